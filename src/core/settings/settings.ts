import { readFileSync } from 'node:fs';

import Joi from 'joi';

import { intendedName } from './similar-names';
import { BARE_LABELS } from '../validation';
import { reasonOf } from '../values';

/** A value that an operator sets by an environment variable. */
export class Setting<T> {
  /**
   * @param name the environment variable
   * @param schema what it may be; the value arrives as a string and is converted by it
   * @param fallback the value where the variable is unset or empty
   * @param description what it does, in one line, for the table in docs/settings.md
   * @param mask for a value that may hold a secret: the value as it may be shown. It may then also
   *   be the content of the file that the variable `NAME_FILE` names.
   */
  constructor(
    readonly name: string,
    readonly schema: Joi.Schema<T>,
    readonly fallback: T,
    readonly description: string,
    readonly mask?: (value: string) => string,
  ) {}

  /** The variable that names a file with the value; undefined where the value is no secret. */
  get fileVariable(): string | undefined {
    return this.mask && `${this.name}_FILE`;
  }
}

/** A setting that is a number of records. */
export function countSetting(name: string, fallback: number, description: string): Setting<number> {
  return new Setting(name, Joi.number().integer().min(0).required(), fallback, description);
}

/** A setting that is a number of calls a minute. */
export function rateSetting(name: string, fallback: number, description: string): Setting<number> {
  return new Setting(name, Joi.number().integer().min(1).required(), fallback, description);
}

/** A setting that is a port to listen on. */
export class PortSetting<T extends number | undefined> extends Setting<T> {
  constructor(name: string, fallback: T, description: string) {
    // Joi's type does not know of a value that is not there.
    super(name, Joi.number().port() as unknown as Joi.Schema<T>, fallback, description);
  }
}

/** Of several ports each is another one, unless a free one is taken. */
export function differentPorts(settings: readonly Setting<unknown>[]): SettingsRule {
  const ports: Setting<unknown>[] = settings.filter((setting) => setting instanceof PortSetting);
  return (values) => {
    // Neither one that is not set nor 0 takes a port that is known.
    const taken = ports.filter((port) => values.isRight(port) && values.of(port));
    for (const [index, port] of taken.entries()) {
      const same = taken.slice(0, index).find((other) => values.of(other) === values.of(port));
      if (same) return `${port.name} must be another port than ${same.name}`;
    }
    return undefined;
  };
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

/** Whether an address is one of this machine itself. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Says what is wrong with the environment: all of it, a line each. */
export class SettingsError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

/** Where the value of a setting comes from. */
export type Source = 'default' | 'environment' | 'file';

/** A setting as it may be shown: secrets are masked, and a value that is unset is null. */
export interface ShownSetting {
  name: string;
  value: unknown;
  source: Source;
}

/** What is wrong with settings that are right each by itself; undefined where nothing is. */
export type SettingsRule = (settings: Settings) => string | undefined;

interface Entry {
  value: unknown;
  source: Source;
  shown: unknown;
  /** Whether what is given was refused. */
  isWrong?: boolean;
}

/** The values of all settings, read once at start. */
export class Settings {
  readonly #entries = new Map<string, Entry>();

  /**
   * Reads and checks the environment.
   *
   * @throws SettingsError naming every variable that is wrong, and why
   */
  constructor(
    settings: readonly Setting<unknown>[],
    env: NodeJS.ProcessEnv,
    rules: readonly SettingsRule[] = [],
  ) {
    const faults = unknownNames(settings, env);
    for (const setting of settings) {
      try {
        this.#entries.set(setting.name, entryOf(setting, env));
      } catch (error) {
        if (!(error instanceof SettingsError)) throw error;
        faults.push(...error.faults);
        // For the rules, most of which then find no further fault in it.
        const entry = { ...defaultOf(setting), source: 'environment', isWrong: true } as const;
        this.#entries.set(setting.name, entry);
      }
    }
    faults.push(...rules.flatMap((rule) => rule(this) ?? []));
    if (faults.length > 0) throw new SettingsError(faults);
  }

  of<T>(setting: Setting<T>): T {
    // The constructor stored what the setting's own schema gave.
    return this.#entryOf(setting).value as T;
  }

  /** Whether the operator has set it. */
  isGiven(setting: Setting<unknown>): boolean {
    return this.#entryOf(setting).source !== 'default';
  }

  /** Whether what is given was not refused, for rules: nobody else gets to see one that was. */
  isRight(setting: Setting<unknown>): boolean {
    return this.#entryOf(setting).isWrong !== true;
  }

  /** All settings as they may be shown, in the order in which they are declared. */
  shown(): ShownSetting[] {
    return [...this.#entries].map(([name, { shown, source }]) => ({
      name,
      value: shown ?? null,
      source,
    }));
  }

  #entryOf({ name }: Setting<unknown>): Entry {
    const entry = this.#entries.get(name);
    if (!entry) throw new Error(`The setting ${name} is not listed in any manifest.`);
    return entry;
  }
}

/** A line for each variable that is nearly a setting: nobody would notice that it does nothing. */
function unknownNames(settings: readonly Setting<unknown>[], env: NodeJS.ProcessEnv): string[] {
  const known = settings.flatMap(({ name, fileVariable }) => [name, fileVariable ?? []].flat());
  return Object.entries(env).flatMap(([name, value]) => {
    const intended = value && intendedName(name, known);
    return intended ? `${name} is not known; did you mean ${intended}?` : [];
  });
}

/** Joi takes `1e3` and `0x10` too, as no command does. */
const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

/** @throws SettingsError where what is given is wrong */
function entryOf(setting: Setting<unknown>, env: NodeJS.ProcessEnv): Entry {
  const { name, schema, mask, fileVariable } = setting;
  const file = fileVariable && env[fileVariable];
  const given = env[name] || undefined;
  if (given && file) throw new SettingsError([`${name} and ${fileVariable} must not both be set`]);
  const text = file ? contentOf(fileVariable, file) : given;
  if (text === undefined) return defaultOf(setting);
  const label = file ? fileVariable : name;
  if (schema.type === 'number' && Number.isFinite(Number(text)) && !PLAIN_NUMBER.test(text)) {
    throw new SettingsError([`${label} must be a number in plain digits`]);
  }
  const checked = schema.label(label).validate(text, BARE_LABELS);
  if (checked.error) throw new SettingsError([checked.error.message]);
  const value: unknown = checked.value;
  return { value, source: file ? 'file' : 'environment', shown: mask ? mask(text) : value };
}

function defaultOf({ fallback }: Setting<unknown>): Entry {
  return { value: fallback, source: 'default', shown: fallback };
}

/** The content of a file without the line break with which editors end it. */
function contentOf(variable: string, file: string): string {
  const content = readSettingsFile(variable, file)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (content === '') throw new SettingsError([`${variable} names a file that is empty`]);
  return content;
}

/** @throws SettingsError where the file that a variable names cannot be read */
export function readSettingsFile(variable: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new SettingsError([`${variable} cannot be read: ${reasonOf(error)}`]);
  }
}
