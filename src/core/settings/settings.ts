import { readFileSync } from 'node:fs';

import Joi from 'joi';

import { intendedName } from './similar-names';
import { BARE_LABELS } from '../text/json';
import { reasonOf } from '../values';

/** A setting, read from an environment variable. */
export class Setting<T> {
  /**
   * @param name the environment variable
   * @param schema validates and converts the text
   * @param fallback the value if the variable is unset or empty
   * @param description one line for the table in docs/settings.md
   * @param mask for a value that may contain a secret: returns what may be shown. The value can then
   *   also be read from a file, named by the variable `NAME_FILE`.
   */
  constructor(
    readonly name: string,
    readonly schema: Joi.Schema<T>,
    readonly fallback: T,
    readonly description: string,
    readonly mask?: (value: string) => string,
  ) {}

  /** The variable that names a file with the value; undefined unless it may contain a secret. */
  get fileVariable(): string | undefined {
    return this.mask && `${this.name}_FILE`;
  }
}

/** A number of records. */
export function countSetting(name: string, fallback: number, description: string): Setting<number> {
  return new Setting(name, Joi.number().integer().min(0).required(), fallback, description);
}

/** A number of calls a minute. */
export function rateSetting(name: string, fallback: number, description: string): Setting<number> {
  return new Setting(name, Joi.number().integer().min(1).required(), fallback, description);
}

export class PortSetting<T extends number | undefined> extends Setting<T> {
  constructor(name: string, fallback: T, description: string) {
    super(name, Joi.number<T>().port(), fallback, description);
  }
}

/** A setting that is on or off: `true` or `1`, `false` or `0`. */
export class SwitchSetting extends Setting<boolean> {
  constructor(name: string, fallback: boolean, description: string) {
    const schema = Joi.boolean()
      .truthy('1')
      .falsy('0')
      .messages({ 'boolean.base': '{{#label}} must be true or false' });
    super(name, schema, fallback, description);
  }
}

/** Requires ports to differ, except 0, which picks a free one. */
export function differentPorts(settings: readonly Setting<unknown>[]): SettingsRule {
  const ports: Setting<unknown>[] = settings.filter((setting) => setting instanceof PortSetting);
  return (values) => {
    // Neither undefined nor 0.
    const taken = ports.filter((port) => values.isRight(port) && values.of(port));
    for (const [index, port] of taken.entries()) {
      const same = taken.slice(0, index).find((other) => values.of(other) === values.of(port));
      if (same) return `${port.name} must be another port than ${same.name}`;
    }
    return undefined;
  };
}

/** Origins that are allowed besides those of web pages. */
export interface OtherOrigins {
  is: (item: string) => boolean;
  /** Completes the message of a fault. */
  hint: string;
}

/** A list of origins of web pages, separated by commas. */
export function originsSetting(
  name: string,
  description: string,
  other: OtherOrigins = { is: () => false, hint: '' },
): Setting<string[]> {
  const schema = Joi.string<string[]>().custom((value: string, helpers) => {
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
  return new Setting(name, schema, [], description);
}

/** The origin in a text, as browsers write it; undefined if it is not the origin of a web page. */
export function originOf(text: string): string | undefined {
  const isOne = /^https?:\/\/[^/?#@*]+$/i.test(text) && URL.canParse(text);
  return isOne ? new URL(text).origin : undefined;
}

/** Whether the host of a URL is a loopback address. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** The faults of the environment, a line each. */
export class SettingsError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(faults.join('\n'));
  }
}

export type Source = 'default' | 'environment' | 'file';

/** A setting with its value masked if it may contain a secret, and null if it is unset. */
export interface ShownSetting {
  name: string;
  value: unknown;
  source: Source;
}

/** Checks settings against each other; returns a fault, if any. */
export type SettingsRule = (settings: Settings) => string | undefined;

interface Entry {
  value: unknown;
  source: Source;
  shown: unknown;
  /** Whether the given value is invalid. */
  isWrong?: boolean;
}

export class Settings {
  readonly #entries = new Map<string, Entry>();

  /**
   * Reads and validates the environment.
   *
   * @throws SettingsError with every fault
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
        // The rules see the default.
        const entry = { ...defaultOf(setting), source: 'environment', isWrong: true } as const;
        this.#entries.set(setting.name, entry);
      }
    }
    faults.push(...rules.flatMap((rule) => rule(this) ?? []));
    if (faults.length > 0) throw new SettingsError(faults);
  }

  of<T>(setting: Setting<T>): T {
    // The constructor stored what the schema of the setting returned.
    return this.#entryOf(setting).value as T;
  }

  /** Whether the operator set it. */
  isGiven(setting: Setting<unknown>): boolean {
    return this.#entryOf(setting).source !== 'default';
  }

  /** Whether the given value is valid, for rules; elsewhere it always is. */
  isRight(setting: Setting<unknown>): boolean {
    return this.#entryOf(setting).isWrong !== true;
  }

  /** All settings in the order of their declaration, with secrets masked. */
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

/** The faults of variables that are probably misspelt settings. */
function unknownNames(settings: readonly Setting<unknown>[], env: NodeJS.ProcessEnv): string[] {
  const known = settings.flatMap(({ name, fileVariable }) => [name, fileVariable ?? []].flat());
  return Object.entries(env).flatMap(([name, value]) => {
    const intended = value && intendedName(name, known);
    return intended ? `${name} is not known; did you mean ${intended}?` : [];
  });
}

/** Joi also accepts `1e3` and `0x10`. */
const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/;

/** @throws SettingsError if the given value is invalid */
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

/** The content of a file without a final line break. */
function contentOf(variable: string, file: string): string {
  const content = readSettingsFile(variable, file)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  if (content === '') throw new SettingsError([`${variable} names a file that is empty`]);
  return content;
}

/** Reads the file that a variable names. @throws SettingsError if it cannot be read */
export function readSettingsFile(variable: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new SettingsError([`${variable} cannot be read: ${reasonOf(error)}`]);
  }
}
