import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { settingsOf } from '../../src/plugins/plugin';
import { aMongod, standIn, temporaryFolder } from '../servers/support';
import { makeCertificate } from '../support/certificate';
import {
  readSettings,
  loadPlugins,
  hostSettings,
  Settings,
  SettingsError,
} from '../support/program';

const folder = mkdtempSync(path.join(tmpdir(), 'settings-test-'));
const certFile = path.join(folder, 'cert.pem');
const keyFile = path.join(folder, 'key.pem');
const { cert, key } = makeCertificate();
writeFileSync(certFile, cert);
writeFileSync(keyFile, key);
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const plugins = loadPlugins();
const all = [...Object.values(hostSettings), ...plugins.flatMap(settingsOf)];

function valueOf(name: string, env: NodeJS.ProcessEnv): unknown {
  const setting = all.find((each) => each.name === name);
  if (!setting) throw new Error(`There is no setting ${name}.`);
  return readSettings(plugins, env).of(setting);
}

/** The faults of an environment, one per line; none if it is valid. */
function faultsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    readSettings(plugins, env);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.message.split('\n');
    throw error;
  }
}

const DEFAULTS: Readonly<Record<string, unknown>> = {
  PORT: 3000,
  HOST: '127.0.0.1',
  DATA_DIR: './data',
  MONGODB_URI: undefined,
  REDIS_URL: undefined,
  MONGOD_BINARY: undefined,
  LOG_LEVEL: 'info',
  LOG_CLIENT_IP: 'off',
  METRICS_PORT: undefined,
  ADMIN_PORT: undefined,
  METRICS_TOKEN: undefined,
  TRUST_PROXY: 0,
  PUBLIC_URL: undefined,
  SIGN_UP: 'invite',
  OIDC_ISSUER: undefined,
  OIDC_AUDIENCE: undefined,
  OIDC_TIER_CLAIM: undefined,
  OIDC_SCOPES: [],
  OIDC_CLIENT_ID: undefined,
  OIDC_CLIENT_SECRET: undefined,
  TLS_CERT_FILE: undefined,
  TLS_KEY_FILE: undefined,
  ANSWER_CACHE_MB: 32,
  CORS_ORIGINS: [],
  MCP_ALLOWED_ORIGINS: [],
  RATE_LIMIT_PLANTS_CREATE_MAX: 60,
  RATE_LIMIT_WRITES_MAX: 300,
  RATE_LIMIT_READS_MAX: 1200,
  RATE_LIMIT_BACKEND_MAX: 6000,
  RATE_LIMIT_AUTH_FAILURES_MAX: 60,
  IDEMPOTENCY_KEEP_HOURS: 168,
  AUDIT_KEEP_DAYS: 400,
  IDEMPOTENCY_MB_PER_DAY: 64,
  BACKUP_EVERY_HOURS: 0,
  BACKUP_DIR: undefined,
  BACKUP_KEEP: 7,
  STARTUP_TIMEOUT_SECONDS: 60,
  SHUTDOWN_DELAY_SECONDS: 0,
  SHUTDOWN_TIMEOUT_SECONDS: 15,
  TIER_FREE_PLANTS: 25,
  TIER_FREE_PHOTOS: 250,
  TIER_FREE_EVENTS: 250_000,
  TIER_PRO_PLANTS: 1000,
  TIER_PRO_PHOTOS: 20_000,
  TIER_PRO_EVENTS: 2_000_000,
  WEBHOOK_ALLOW_PRIVATE: false,
};

// Further settings appear in docs/settings.md, which another test compares.
test('the settings that operators rely on have their defaults', () => {
  const settings = readSettings(plugins, {});
  const values = all.map((setting) => [setting.name, settings.of(setting)] as const);
  const known = values.filter(([name]) => Object.hasOwn(DEFAULTS, name));
  expect(Object.fromEntries(known)).toEqual(DEFAULTS);
  expect(known.map(([name]) => name).sort()).toEqual(Object.keys(DEFAULTS).sort());
});

test('an empty variable counts as unset', () => {
  const env = Object.fromEntries(all.map(({ name }) => [name, '']));
  const settings = readSettings(plugins, env);
  for (const setting of all) expect(settings.of(setting)).toEqual(setting.fallback);
});

test.each([
  ['PORT', '0', 0],
  ['PORT', '65535', 65_535],
  ['HOST', '0.0.0.0', '0.0.0.0'],
  ['HOST', '::', '::'],
  ['HOST', '::1', '::1'],
  ['HOST', 'localhost', 'localhost'],
  ['PUBLIC_URL', 'https://Api.example.com/', 'https://api.example.com'],
  ['PUBLIC_URL', 'http://localhost:3000', 'http://localhost:3000'],
  ['DATA_DIR', '/tmp/plant care/not made yet', '/tmp/plant care/not made yet'],
  [
    'MONGODB_URI',
    'mongodb://a:1,b:2/garden?replicaSet=rs',
    'mongodb://a:1,b:2/garden?replicaSet=rs',
  ],
  ['MONGODB_URI', 'mongodb+srv://cluster.example.com/x', 'mongodb+srv://cluster.example.com/x'],
  ['REDIS_URL', 'redis://127.0.0.1:6379/0', 'redis://127.0.0.1:6379/0'],
  ['REDIS_URL', 'rediss://:secret@example.com:6380', 'rediss://:secret@example.com:6380'],
  ['REDIS_URL', '/run/redis/redis.sock', '/run/redis/redis.sock'],
  ['LOG_LEVEL', 'silent', 'silent'],
  ['LOG_CLIENT_IP', 'masked', 'masked'],
  ['METRICS_PORT', '9100', 9100],
  ['ADMIN_PORT', '9200', 9200],
  ['TRUST_PROXY', 'true', 1],
  ['TRUST_PROXY', 'false', 0],
  ['TRUST_PROXY', '2', 2],
  ['CORS_ORIGINS', '*', ['*']],
  ['WEBHOOK_ALLOW_PRIVATE', '1', true],
  ['WEBHOOK_ALLOW_PRIVATE', '0', false],
  ['WEBHOOK_ALLOW_PRIVATE', 'true', true],
  ['CLIENT_METADATA_DOCUMENTS', '0', false],
  [
    'CORS_ORIGINS',
    'https://a.example, https://b.example,',
    ['https://a.example', 'https://b.example'],
  ],
  ['RATE_LIMIT_WRITES_MAX', '1', 1],
  ['RATE_LIMIT_READS_MAX', '5000', 5000],
  ['RATE_LIMIT_AUTH_FAILURES_MAX', '5', 5],
  ['RATE_LIMIT_PLANTS_CREATE_MAX', '7', 7],
  ['IDEMPOTENCY_KEEP_HOURS', '24', 24],
  ['IDEMPOTENCY_KEEP_HOURS', '596523', 596_523],
  ['IDEMPOTENCY_MB_PER_DAY', '1', 1],
  ['STARTUP_TIMEOUT_SECONDS', '0', 0],
  ['SHUTDOWN_DELAY_SECONDS', '5', 5],
  ['SHUTDOWN_TIMEOUT_SECONDS', '10', 10],
  ['TIER_FREE_PLANTS', '0', 0],
  ['TIER_FREE_PHOTOS', '3', 3],
  ['TIER_PRO_PLANTS', '2000', 2000],
  ['TIER_PRO_PHOTOS', '40000', 40_000],
])('%s may be %s', (name, text, value) => {
  expect(valueOf(name, { [name]: text })).toEqual(value);
});

test.each<[string, string, string | RegExp]>([
  ['WEBHOOK_ALLOW_PRIVATE', 'maybe', 'WEBHOOK_ALLOW_PRIVATE must be true or false'],
  ['CLIENT_METADATA_DOCUMENTS', '2', 'CLIENT_METADATA_DOCUMENTS must be true or false'],
  ['PORT', '65536', 'PORT must be a valid port'],
  ['PORT', '-1', 'PORT must be a valid port'],
  ['PORT', 'http', 'PORT must be a number'],
  ['PORT', '80.5', /^PORT must be /],
  ['PORT', '1e3', 'PORT must be a number in plain digits'],
  ['TIER_FREE_PLANTS', '0x10', 'TIER_FREE_PLANTS must be a number in plain digits'],
  ['HOST', 'not a host', 'HOST must be a valid hostname'],
  [
    'PUBLIC_URL',
    'http://api.example.com',
    'PUBLIC_URL must be an https origin such as https://api.example.com',
  ],
  [
    'PUBLIC_URL',
    'https://api.example.com/plants',
    'PUBLIC_URL must be an https origin such as https://api.example.com',
  ],
  ['MONGODB_URI', 'http://example.com', 'MONGODB_URI must be a mongodb:// or mongodb+srv:// URI'],
  ['MONGODB_URI', 'localhost:27017', 'MONGODB_URI must be a mongodb:// or mongodb+srv:// URI'],
  [
    'MONGODB_URI',
    'mongodb://db/?retries=1',
    'MONGODB_URI cannot be used: option retries is not supported',
  ],
  ['MONGODB_URI', 'mongodb://db:0x/', /^MONGODB_URI cannot be used: /],
  ['REDIS_URL', 'localhost:6379', /^REDIS_URL must be a valid uri/],
  ['REDIS_URL', 'redis://h:99999', 'REDIS_URL must be a valid uri'],
  ['LOG_LEVEL', 'loud', /^LOG_LEVEL must be one of /],
  ['LOG_CLIENT_IP', 'yes', /^LOG_CLIENT_IP must be one of /],
  ['METRICS_PORT', '70000', /^METRICS_PORT must be a valid port/],
  ['METRICS_TOKEN', 'short', /^METRICS_TOKEN .* 16 characters/],
  [
    'METRICS_TOKEN',
    'long enough but two words',
    'METRICS_TOKEN must be one word of ASCII characters',
  ],
  ['METRICS_TOKEN', 'long-enough-für-alle', 'METRICS_TOKEN must be one word of ASCII characters'],
  ['IDEMPOTENCY_KEEP_HOURS', '23', 'IDEMPOTENCY_KEEP_HOURS must be greater than or equal to 24'],
  ['IDEMPOTENCY_KEEP_HOURS', '596524', /^IDEMPOTENCY_KEEP_HOURS must be less than or equal to /],
  ['IDEMPOTENCY_MB_PER_DAY', '0', 'IDEMPOTENCY_MB_PER_DAY must be greater than or equal to 1'],
  ['IDEMPOTENCY_KEEP_HOURS', '24.5', 'IDEMPOTENCY_KEEP_HOURS must be an integer'],
  ['STARTUP_TIMEOUT_SECONDS', '1.5', 'STARTUP_TIMEOUT_SECONDS must be an integer'],
  ['SHUTDOWN_DELAY_SECONDS', '-1', /^SHUTDOWN_DELAY_SECONDS must be greater /],
  ['SHUTDOWN_TIMEOUT_SECONDS', '9', 'SHUTDOWN_TIMEOUT_SECONDS must be greater than or equal to 10'],
  ['TRUST_PROXY', 'yes', /^TRUST_PROXY must be one of /],
  ['TRUST_PROXY', '-1', /^TRUST_PROXY must be /],
  ...[
    'RATE_LIMIT_PLANTS_CREATE_MAX',
    'RATE_LIMIT_WRITES_MAX',
    'RATE_LIMIT_READS_MAX',
    'RATE_LIMIT_AUTH_FAILURES_MAX',
  ].flatMap((name): [string, string, string | RegExp][] => [
    [name, '0', `${name} must be greater than or equal to 1`],
    [name, 'many', `${name} must be a number`],
  ]),
  ...['FREE_PLANTS', 'FREE_PHOTOS', 'FREE_EVENTS', 'PRO_PLANTS', 'PRO_PHOTOS', 'PRO_EVENTS']
    .map((each) => `TIER_${each}`)
    .flatMap((name): [string, string, string | RegExp][] => [
      [name, '-1', `${name} must be greater than or equal to 0`],
      [name, '2.5', `${name} must be an integer`],
    ]),
])('%s must not be %s', (name, text, message) => {
  const faults = faultsOf({ [name]: text });
  expect(faults).toEqual([
    typeof message === 'string' ? message : (expect.stringMatching(message) as string),
  ]);
});

test('the error for a URI does not repeat it, since it may contain a password', () => {
  const faults = faultsOf({ MONGODB_URI: 'http://u:hunter2@h', REDIS_URL: 'http://u:hunter2@h' });
  expect(faults).toHaveLength(2);
  expect(faults.join()).not.toContain('hunter2');
  for (const uri of [
    'u:hunter2@h/?retries=1',
    'u:hunter2/3@h/x',
    'u:%hunter2@h',
    'u:hunter2@h:x',
  ]) {
    const [fault] = faultsOf({ MONGODB_URI: `mongodb://${uri}` });
    expect(fault).toMatch(/^MONGODB_URI cannot be used: /);
    expect(fault).not.toContain('hunter2');
  }
});

test('all faults are reported together, one per line', () => {
  const env = {
    PORT: 'x',
    HOST: 'a b',
    LOG_LEVEL: 'loud',
    TIER_FREE_PLANTS: '-1',
    TLS_KEY_FILE: keyFile,
  };
  const faults = faultsOf(env);
  expect(faults).toHaveLength(5);
  for (const name of Object.keys(env)) {
    expect(faults.filter((line) => line.includes(name))).toHaveLength(1);
  }
});

test.each([
  ['a certificate without a key', { TLS_CERT_FILE: certFile }],
  ['a key without a certificate', { TLS_KEY_FILE: keyFile }],
  ['a certificate with an empty key', { TLS_CERT_FILE: certFile, TLS_KEY_FILE: '' }],
])('%s is refused', (_, env) => {
  expect(faultsOf(env)).toEqual(['TLS_CERT_FILE and TLS_KEY_FILE must be set together']);
});

const OIDC = { OIDC_ISSUER: 'https://id.example.com/', OIDC_AUDIENCE: 'plants' };

test('an issuer and its audience must be set together', () => {
  expect(faultsOf(OIDC)).toEqual([]);
  for (const name of ['OIDC_ISSUER', 'OIDC_AUDIENCE'] as const) {
    expect(faultsOf({ [name]: OIDC[name] })).toEqual([
      'OIDC_ISSUER and OIDC_AUDIENCE must be set together',
    ]);
  }
});

test.each(['http://id.example.com', 'https://id.example.com/?realm=plants', 'id.example.com'])(
  'an issuer cannot be %s',
  (text) => {
    expect(faultsOf({ ...OIDC, OIDC_ISSUER: text })).toEqual([
      expect.stringMatching(/^OIDC_ISSUER must be (an https address|a valid uri) /),
    ]);
  },
);

test('OIDC_SCOPES must be known scopes', () => {
  expect(valueOf('OIDC_SCOPES', { ...OIDC, OIDC_SCOPES: 'plants:read,events:write' })).toEqual([
    'plants:read',
    'events:write',
  ]);
  expect(faultsOf({ ...OIDC, OIDC_SCOPES: 'plants:read,plants:eat' })).toEqual([
    expect.stringMatching(/^OIDC_SCOPES contains the unknown scope plants:eat; /),
  ]);
});

test('equal ports are refused, except 0', () => {
  expect(faultsOf({ PORT: '3000', METRICS_PORT: '3000' })).toEqual([
    'METRICS_PORT must be another port than PORT',
  ]);
  expect(faultsOf({ METRICS_PORT: '3000' })).toHaveLength(1);
  expect(faultsOf({ PORT: '3000', METRICS_PORT: '3001' })).toEqual([]);
  expect(faultsOf({ PORT: '0', METRICS_PORT: '0' })).toEqual([]);
  expect(faultsOf({ PORT: 'abc', METRICS_PORT: '3000' })).toHaveLength(1);
});

test('a certificate with its key is accepted', () => {
  expect(faultsOf({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile })).toEqual([]);
});

test('a certificate with the key of another is refused', () => {
  const other = path.join(folder, 'other.pem');
  writeFileSync(other, makeCertificate().key);
  expect(faultsOf({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: other })).toEqual([
    'TLS_KEY_FILE is not the private key of TLS_CERT_FILE',
  ]);
});

test('files without a certificate or key are reported with the reason', () => {
  expect(faultsOf({ TLS_CERT_FILE: keyFile, TLS_KEY_FILE: certFile })).toEqual([
    expect.stringMatching(/^TLS_CERT_FILE is no certificate: \S/),
    expect.stringMatching(/^TLS_KEY_FILE is no private key: \S/),
  ]);
});

test.each([
  ['a chain that is cut short', `${cert}${makeCertificate().cert.slice(0, 300)}\n`],
  ['a chain with something else in it', `${cert}${cert.replace('MII', 'AII')}`],
  ['a key that is too short', makeCertificate(1, 'rsa', 512).cert],
])('%s is refused, since OpenSSL would refuse it', (_what, content) => {
  const file = path.join(folder, 'refused.pem');
  writeFileSync(file, content);
  expect(faultsOf({ TLS_CERT_FILE: file, TLS_KEY_FILE: keyFile })[0]).toMatch(
    /^TLS_CERT_FILE is no certificate: OpenSSL refuses the chain in it \([a-z ]+\)$/,
  );
});

test('a certificate or key that cannot be read is reported with the reason', () => {
  const faults = faultsOf({ TLS_CERT_FILE: '/missing/{a}.pem', TLS_KEY_FILE: __dirname });
  expect(faults).toEqual([
    expect.stringMatching(/^TLS_CERT_FILE is no certificate: .*ENOENT/),
    expect.stringMatching(/^TLS_KEY_FILE is no private key: .*EISDIR/),
  ]);
});

test('MONGOD_BINARY accepts a mongod, also by a relative path', async () => {
  const { mongodBinary } = hostSettings;
  const mongod = (await aMongod()).path;
  for (const file of [mongod, path.relative('.', mongod)]) {
    expect(new Settings([mongodBinary], { MONGOD_BINARY: file }).of(mongodBinary)).toBe(file);
  }
});

test('a MONGOD_BINARY that cannot be run, or is not a mongod, is reported with the reason', async () => {
  const faultOf = (file: string) => faultsOf({ MONGOD_BINARY: file });
  const start = 'MONGOD_BINARY is not a mongod that can be run: ';
  const broken = await standIn(
    await temporaryFolder(),
    'mongod',
    'echo "no libcrypto" >&2; exit 127',
  );
  expect(faultOf(broken)).toEqual([`${start}no libcrypto`]);
  // Each of these can be run, and prints a version or nothing.
  for (const other of [process.execPath, '/bin/true']) {
    expect(faultOf(other)).toEqual([`${start}it does not print the version of one`]);
  }
  expect(faultOf('/missing')).toEqual([expect.stringMatching(`^${start}ENOENT`)]);
  expect(faultOf(__filename)).toEqual([expect.stringMatching(`^${start}EACCES`)]);
  expect(faultOf(__dirname)).toEqual([`${start}it is not a file`]);
});

test('a DATA_DIR that is not a folder, or cannot be created, is reported with the reason', () => {
  const start = 'DATA_DIR is not a folder that can be written to: ';
  expect(faultsOf({ DATA_DIR: __filename })).toEqual([`${start}${__filename} is not a folder`]);
  expect(faultsOf({ DATA_DIR: `${__filename}/data` })).toEqual([
    expect.stringMatching(`^${start}ENOTDIR`),
  ]);
});

test.each(['CORS_ORIGINS', 'MCP_ALLOWED_ORIGINS'])('%s accepts only origins', (name) => {
  for (const value of ['nonsense', 'https://a.example/x', 'https://a, b', 'https://*.example']) {
    expect(faultsOf({ [name]: value })).toEqual([
      expect.stringContaining(`${name} must be origins such as https://app.example.com`),
    ]);
  }
});

test('origins are accepted as browsers write them, including those of apps', () => {
  const { corsOrigins } = hostSettings;
  const settings = new Settings([corsOrigins], {
    CORS_ORIGINS: 'https://A.example:443, capacitor://localhost',
  });
  expect(settings.of(corsOrigins)).toEqual(['https://a.example', 'capacitor://localhost']);
});

test('a setting that is not in a manifest cannot be read', () => {
  const settings = new Settings([hostSettings.port], {});
  expect(() => settings.of(hostSettings.host)).toThrow(
    'The setting HOST is not listed in any manifest.',
  );
});
