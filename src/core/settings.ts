import Joi from 'joi';

import { redact } from './redact';

/** A value that an operator sets by an environment variable. */
export class Setting<T> {
  /**
   * @param name the environment variable
   * @param schema what it may be; the value arrives as a string and is converted by it
   * @param fallback the value where the variable is unset or empty
   * @param description what it does, in one line, for the table in the README
   */
  constructor(
    readonly name: string,
    readonly schema: Joi.Schema<T>,
    readonly fallback: T,
    readonly description: string,
  ) {}
}

/** A setting that is a number of records. */
export function countSetting(name: string, fallback: number, description: string): Setting<number> {
  return new Setting(name, Joi.number().integer().min(0).required(), fallback, description);
}

/** A setting that is a number of calls a minute. */
export function rateSetting(name: string, fallback: number, description: string): Setting<number> {
  return new Setting(name, Joi.number().integer().min(1).required(), fallback, description);
}

/** What may stand in a list of origins besides those of web pages. */
export interface OtherOrigins {
  is: (item: string) => boolean;
  /** How the message of a fault goes on. */
  hint: string;
}

/** A setting that lists origins of web pages, by comma, as browsers send them. */
export function originsSetting(
  name: string,
  description: string,
  other: OtherOrigins = { is: () => false, hint: '' },
): Setting<string[]> {
  const schema = Joi.string().custom((value: string, helpers) => {
    const items = value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
    const origins = items.flatMap((item) => originOf(item) ?? (other.is(item) ? item : []));
    return origins.length === items.length
      ? origins
      : helpers.message({
          custom: `{{#label}} must be origins such as https://app.example.com${other.hint}`,
        });
  });
  // The custom rule above turns the string into a list, which Joi's type does not follow.
  return new Setting(name, schema as unknown as Joi.Schema<string[]>, [], description);
}

/** The origin of a page of the web that a text is, as browsers write it; undefined if it is none. */
export function originOf(text: string): string | undefined {
  const isOne = /^https?:\/\/[^/?#@*]+$/i.test(text) && URL.canParse(text);
  return isOne ? new URL(text).origin : undefined;
}

/** Says what is wrong with the environment: all of it, a line each. */
export class SettingsError extends Error {}

/** The values of all settings, read once at start. */
export class Settings {
  readonly #values = new Map<string, unknown>();

  /**
   * Reads and checks the environment.
   *
   * @param paired settings of which one is of no use without the other
   * @throws SettingsError naming every variable that is wrong, and why
   */
  constructor(
    settings: readonly Setting<unknown>[],
    env: NodeJS.ProcessEnv,
    paired: readonly (readonly [Setting<unknown>, Setting<unknown>])[] = [],
  ) {
    const faults: string[] = [];
    for (const setting of settings) {
      const given = env[setting.name];
      if (given === undefined || given === '') {
        this.#values.set(setting.name, setting.fallback);
        continue;
      }
      const checked = setting.schema
        .label(setting.name)
        .validate(given, { errors: { wrap: { label: false } } });
      if (checked.error) faults.push(checked.error.message);
      else this.#values.set(setting.name, checked.value);
    }
    for (const [one, other] of paired) {
      if (Boolean(env[one.name]) !== Boolean(env[other.name])) {
        faults.push(`${one.name} and ${other.name} must be set together`);
      }
    }
    if (faults.length > 0) throw new SettingsError(faults.join('\n'));
  }

  of<T>(setting: Setting<T>): T {
    if (!this.#values.has(setting.name)) {
      throw new Error(`The setting ${setting.name} is not listed in any manifest.`);
    }
    // The constructor stored what the setting's own schema gave.
    return this.#values.get(setting.name) as T;
  }

  /** All values by name, without the credentials of addresses. */
  redacted(): Record<string, unknown> {
    const shown = [...this.#values].map(([name, value]) => [
      name,
      typeof value === 'string' ? redact(value, value) : value,
    ]);
    // Of type unknown only because a pair is an array.
    return Object.fromEntries(shown) as Record<string, unknown>;
  }
}
