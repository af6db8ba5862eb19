import Joi from 'joi';
import { mongo } from 'mongoose';

import {
  isLoopback,
  originOf,
  originsSetting,
  type OtherOrigins,
  PortSetting,
  rateSetting,
  Setting,
  type SettingsRule,
} from './settings';
import {
  mongodFile,
  certificateFile,
  isPair,
  privateKeyFile,
  writableFolder,
} from '../file-schemas';
import { maskUri, redact } from '../text/redact';
import { reasonOf } from '../values';

/** `*`, and the origins of apps, such as capacitor://localhost. */
const anyOrigin: OtherOrigins = {
  is: (item) => item === '*' || /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^/?#@*]+$/.test(item),
  hint: ', or *',
};

function optional(
  name: string,
  description: string,
  schema: Joi.StringSchema,
  mask?: (value: string) => string,
): Setting<string | undefined> {
  return new Setting<string | undefined>(name, schema, undefined, description, mask);
}

/** Not a URI by the RFC, since it may list several hosts. The driver checks its options. */
const mongodbUri = Joi.string()
  .pattern(/^mongodb(\+srv)?:\/\/[^\s/]+/)
  .messages({ 'string.pattern.base': '{{#label}} must be a mongodb:// or mongodb+srv:// URI' })
  .custom((uri: string, helpers) => {
    try {
      new mongo.MongoClient(uri);
      return uri;
    } catch (error) {
      const reason = redact(reasonOf(error), uri);
      return helpers.message({ custom: '{{#label}} cannot be used: {{#reason}}' }, { reason });
    }
  });

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

const CLIENT_IP_LOGGING = ['off', 'masked', 'full'] as const;
export type ClientIpLogging = (typeof CLIENT_IP_LOGGING)[number];

/** An origin without a path: clients compare it byte for byte. */
const publicOrigin = Joi.string().custom((url: string, helpers) => {
  const origin = originOf(url.replace(/\/$/, ''));
  const isSafe = origin !== undefined && (/^https:/.test(origin) || isLoopback(new URL(origin)));
  const custom = '{{#label}} must be an https origin such as https://api.example.com';
  return isSafe ? origin : helpers.message({ custom });
});

/** The number of proxies in front of the service; `true` is one, `false` none. */
const proxies = Joi.alternatives(
  Joi.number().integer().min(0).max(10),
  Joi.boolean<number>().custom((value: boolean) => (value ? 1 : 0)),
);

/** The longest expiry in MongoDB, 2^31 - 1 seconds, in hours. */
const LONGEST_EXPIRY = 596_523;

/** A day. */
const MAX_SECONDS = 86_400;

/** A year. */
const MAX_BACKUP_HOURS = 8760;

/** How long a write is retried before its caller gets a 503. */
export const WRITE_DEADLINE_SECONDS = 10;

/** The settings of the host itself; plugins add their own. */
export const hostSettings = {
  port: new PortSetting('PORT', 3000, 'Port to listen on; 0 picks a free one'),
  host: new Setting('HOST', Joi.string().hostname(), '127.0.0.1', 'Address to listen on'),
  dataDir: new Setting(
    'DATA_DIR',
    writableFolder,
    './data',
    'Where managed servers keep their data',
  ),
  mongodbUri: optional(
    'MONGODB_URI',
    'A replica set or sharded cluster to use instead of a managed mongod',
    mongodbUri,
    maskUri,
  ),
  redisUrl: optional(
    'REDIS_URL',
    'A Redis to use instead of a managed redis-server',
    // A path is that of a socket.
    Joi.string().when('.', {
      is: Joi.string().pattern(/^\//),
      otherwise: Joi.string()
        .uri({ scheme: ['redis', 'rediss'] })
        // Joi accepts invalid ports, for which the client throws.
        .custom((url: string, helpers) => (URL.canParse(url) ? url : helpers.error('string.uri'))),
    }),
    maskUri,
  ),
  mongodBinary: optional(
    'MONGOD_BINARY',
    'The mongod to start, instead of looking for one',
    mongodFile,
  ),
  logLevel: new Setting(
    'LOG_LEVEL',
    Joi.string().valid(...LOG_LEVELS),
    'info',
    `What is logged: ${new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(LOG_LEVELS)}`,
  ),
  logClientIp: new Setting<ClientIpLogging>(
    'LOG_CLIENT_IP',
    Joi.string<ClientIpLogging>().valid(...CLIENT_IP_LOGGING),
    'off',
    'Client addresses in the log: off, masked (to /24, or /48 of IPv6) or full, as fail2ban needs',
  ),
  trustProxy: new Setting(
    'TRUST_PROXY',
    proxies,
    0,
    'Number of proxies in front that set X-Forwarded-For',
  ),
  publicUrl: optional(
    'PUBLIC_URL',
    'The https origin that people and clients use, such as https://api.example.com; loopback http without it',
    publicOrigin,
  ),
  tlsCertFile: optional(
    'TLS_CERT_FILE',
    'PEM certificate chain; with TLS_KEY_FILE: serve HTTPS',
    certificateFile,
  ),
  tlsKeyFile: optional('TLS_KEY_FILE', 'PEM private key of TLS_CERT_FILE', privateKeyFile),
  corsOrigins: originsSetting(
    'CORS_ORIGINS',
    'Origins of web pages that may call the API, separated by commas; * for all',
    anyOrigin,
  ),
  writesMax: rateSetting('RATE_LIMIT_WRITES_MAX', 300, 'Writes a minute per account'),
  readsMax: rateSetting('RATE_LIMIT_READS_MAX', 1200, 'Reads a minute per account'),
  idempotencyMegabytes: new Setting(
    'IDEMPOTENCY_MB_PER_DAY',
    Joi.number().integer().min(1).required(),
    64,
    'Megabytes of responses to requests with an Idempotency-Key that an account may store a day',
  ),
  authFailuresMax: rateSetting(
    'RATE_LIMIT_AUTH_FAILURES_MAX',
    60,
    'Failed authentications a minute per client address, or /64 of IPv6',
  ),
  answerCacheMegabytes: new Setting(
    'ANSWER_CACHE_MB',
    Joi.number().integer().min(0).max(4096).required(),
    32,
    'Megabytes of memory for cached responses to reads; 0 disables the cache',
  ),
  idempotencyKeepHours: new Setting(
    'IDEMPOTENCY_KEEP_HOURS',
    Joi.number().integer().min(24).max(LONGEST_EXPIRY).required(),
    168,
    'Hours for which the response to a request with an Idempotency-Key is stored for its retries',
  ),
  backupEveryHours: new Setting(
    'BACKUP_EVERY_HOURS',
    Joi.number().min(0).max(MAX_BACKUP_HOURS).required(),
    0,
    'Hours between scheduled backups; 0 for none',
  ),
  backupDir: optional(
    'BACKUP_DIR',
    'Folder for backups without a file name; by default the folder backups of DATA_DIR',
    writableFolder,
  ),
  backupKeep: new Setting(
    'BACKUP_KEEP',
    Joi.number().integer().min(1).max(10_000).required(),
    7,
    'Number of scheduled backups that are kept',
  ),
  startupTimeoutSeconds: new Setting(
    'STARTUP_TIMEOUT_SECONDS',
    Joi.number().integer().min(0).max(MAX_SECONDS).required(),
    60,
    'Seconds that a starting server waits for the MongoDB of MONGODB_URI',
  ),
  shutdownDelaySeconds: new Setting(
    'SHUTDOWN_DELAY_SECONDS',
    Joi.number().integer().min(0).max(MAX_SECONDS).required(),
    0,
    'Seconds that a stopping server still accepts requests, while /readyz is 503; 5 behind a balancer',
  ),
  shutdownTimeoutSeconds: new Setting(
    'SHUTDOWN_TIMEOUT_SECONDS',
    Joi.number().integer().min(WRITE_DEADLINE_SECONDS).max(MAX_SECONDS).required(),
    15,
    'Seconds after that delay within which the server exits, whatever hangs; at least as long as a write may take',
  ),
  auditKeepDays: new Setting(
    'AUDIT_KEEP_DAYS',
    Joi.number().integer().min(1).max(36_500).required(),
    400,
    'Days for which entries of the audit log are kept',
  ),
};

/** Checks of settings of the host against each other. */
export const hostRules: readonly SettingsRule[] = [
  (settings) => {
    const { tlsCertFile, tlsKeyFile } = hostSettings;
    const given = [tlsCertFile, tlsKeyFile].filter((setting) => settings.isGiven(setting));
    return given.length === 1
      ? `${tlsCertFile.name} and ${tlsKeyFile.name} must be set together`
      : undefined;
  },
  (settings) => {
    const { tlsCertFile, tlsKeyFile } = hostSettings;
    const cert = settings.of(tlsCertFile);
    const key = settings.of(tlsKeyFile);
    const isWrong = cert !== undefined && key !== undefined && !isPair(cert, key);
    return isWrong ? `${tlsKeyFile.name} is not the private key of ${tlsCertFile.name}` : undefined;
  },
];

/** The budgets of the host, in calls a minute; plugins add their own. */
export const HOST_BUDGETS: Readonly<Record<string, Setting<number>>> = {
  reads: hostSettings.readsMax,
  writes: hostSettings.writesMax,
};

/** The name of the budget of failed authentications, by client address. */
export const AUTH_FAILURES = 'auth-failures';
