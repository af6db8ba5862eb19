import { readFileSync } from 'node:fs';

import Joi from 'joi';

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
interface OtherOrigins {
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

/** `*`, and the origins of apps that are no pages of the web, such as capacitor://localhost. */
const anyOrigin: OtherOrigins = {
  is: (item) => item === '*' || /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^/?#@*]+$/.test(item),
  hint: ', or *',
};

const readableFile = Joi.string().custom((value: string, helpers) => {
  try {
    readFileSync(value);
  } catch (error) {
    // Commands may be for people who may not see a key; a server that may not says so itself.
    if (!isDenied(error)) return helpers.message(UNREADABLE, { reason: reasonOf(error) });
  }
  return value;
});
const UNREADABLE = { custom: '{{#label}} cannot be read: {{#reason}}' };

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EACCES';
}

/** @throws SettingsError where the file that a setting names cannot be read */
export function readSettingsFile(setting: Setting<string | undefined>, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new SettingsError(`${setting.name} cannot be read: ${reasonOf(error)}`);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function optional(
  name: string,
  description: string,
  schema: Joi.StringSchema = Joi.string(),
): Setting<string | undefined> {
  return new Setting<string | undefined>(name, schema, undefined, description);
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** How many proxies stand before the service; `true` counts as one, `false` as none. */
const proxies = Joi.alternatives(
  Joi.number().integer().min(0).max(10),
  Joi.boolean().custom((value: boolean) => (value ? 1 : 0)),
) as unknown as Joi.Schema<number>; // Both alternatives end as a number.

/** The settings of the host itself; plugins add their own. */
export const hostSettings = {
  port: new Setting('PORT', Joi.number().port(), 3000, 'Port to listen on; 0 takes a free one'),
  host: new Setting('HOST', Joi.string().hostname(), '127.0.0.1', 'Address to listen on'),
  dataDir: new Setting('DATA_DIR', Joi.string(), './data', 'Where the own servers keep their data'),
  mongodbUri: optional(
    'MONGODB_URI',
    'A replica set or sharded cluster to use instead of an own mongod',
    // Not a URI by the RFC: it may list several hosts.
    Joi.string()
      .pattern(/^mongodb(\+srv)?:\/\/[^\s/]+/)
      .messages({ 'string.pattern.base': '{{#label}} must be a mongodb:// or mongodb+srv:// URI' }),
  ),
  redisUrl: optional(
    'REDIS_URL',
    'A Redis to use instead of an own redis-server',
    // A path is that of a socket.
    Joi.string().when('.', {
      is: Joi.string().pattern(/^\//),
      otherwise: Joi.string().uri({ scheme: ['redis', 'rediss'] }),
    }),
  ),
  mongodBinary: optional('MONGOD_BINARY', 'The mongod to start, instead of looking for one'),
  logLevel: new Setting(
    'LOG_LEVEL',
    Joi.string().valid(...LOG_LEVELS),
    'info',
    'What is logged: fatal, error, warn, info, debug, trace or silent',
  ),
  trustProxy: new Setting(
    'TRUST_PROXY',
    proxies,
    0,
    'How many proxies in front may set X-Forwarded-For',
  ),
  tlsCertFile: optional(
    'TLS_CERT_FILE',
    'PEM certificate chain; with TLS_KEY_FILE: serve HTTPS',
    readableFile,
  ),
  tlsKeyFile: optional('TLS_KEY_FILE', 'PEM private key of TLS_CERT_FILE', readableFile),
  corsOrigins: originsSetting(
    'CORS_ORIGINS',
    'Origins of web pages that may call, by comma; * is all',
    anyOrigin,
  ),
  writesMax: rateSetting('RATE_LIMIT_WRITES_MAX', 300, 'Writes a minute per account'),
  readsMax: rateSetting('RATE_LIMIT_READS_MAX', 1200, 'Reads a minute per account'),
  authFailuresMax: rateSetting(
    'RATE_LIMIT_AUTH_FAILURES_MAX',
    60,
    'Failed authentications a minute per client address',
  ),
};

/** Says what is wrong with the environment: all of it, a line each. */
export class SettingsError extends Error {}

/** The values of all settings, read once at start. */
export class Settings {
  readonly #values = new Map<string, unknown>();

  /**
   * Reads and checks the environment.
   *
   * @throws SettingsError naming every variable that is wrong, and why
   */
  constructor(settings: readonly Setting<unknown>[], env: NodeJS.ProcessEnv) {
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
    const { tlsCertFile, tlsKeyFile } = hostSettings;
    if (Boolean(env[tlsCertFile.name]) !== Boolean(env[tlsKeyFile.name])) {
      faults.push(`${tlsCertFile.name} and ${tlsKeyFile.name} must be set together`);
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
}
