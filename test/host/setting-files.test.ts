import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { maskUri } from '../../src/core/text/redact';
import { readSettings, hostSettings, SettingsError, loadPlugins } from '../support/program';

const URI = 'mongodb://ada:hunter2@db/plants';

const plugins = loadPlugins();
const folder = mkdtempSync(path.join(tmpdir(), 'setting-files-test-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function fileWith(content: string): string {
  const file = path.join(folder, 'secret');
  writeFileSync(file, content);
  return file;
}

function faultOf(env: NodeJS.ProcessEnv): string {
  try {
    readSettings(plugins, env);
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
  }
  throw new Error('It was not refused as it should be.');
}

test.each([
  ['as it is', ''],
  ['without the line break at its end', '\n'],
  ['without the line break of Windows at its end', '\r\n'],
])('the content of the file in MONGODB_URI_FILE is the value, %s', (_, end) => {
  const settings = readSettings(plugins, { MONGODB_URI_FILE: fileWith(`${URI}${end}`) });
  expect(settings.of(hostSettings.mongodbUri)).toBe(URI);
});

test('REDIS_URL may be in a file too', () => {
  const settings = readSettings(plugins, { REDIS_URL_FILE: fileWith('redis://:hunter2@cache\n') });
  expect(settings.of(hostSettings.redisUrl)).toBe('redis://:hunter2@cache');
});

test('a value together with a file is refused', () => {
  expect(faultOf({ MONGODB_URI: URI, MONGODB_URI_FILE: fileWith(URI) })).toBe(
    'MONGODB_URI and MONGODB_URI_FILE must not both be set',
  );
});

test('a file that cannot be read, or is empty, is reported by its variable', () => {
  expect(faultOf({ MONGODB_URI_FILE: '/missing' })).toMatch(
    /^MONGODB_URI_FILE cannot be read: ENOENT/,
  );
  expect(faultOf({ MONGODB_URI_FILE: folder })).toMatch(/^MONGODB_URI_FILE cannot be read: EISDIR/);
  expect(faultOf({ MONGODB_URI_FILE: fileWith('\n') })).toBe(
    'MONGODB_URI_FILE names a file that is empty',
  );
});

test('an invalid value in a file is reported by its variable, and not repeated', () => {
  expect(faultOf({ MONGODB_URI_FILE: fileWith('http://ada:hunter2@db') })).toBe(
    'MONGODB_URI_FILE must be a mongodb:// or mongodb+srv:// URI',
  );
});

test.each([
  ['mongodb://a:1,b:2/x?replicaSet=rs', 'mongodb://a:1,b:2/x?replicaSet=rs'],
  [URI, 'mongodb://ada:***@db/plants'],
  ['mongodb://ada:p@ss/w:rd@db/x', 'mongodb://ada:***@db/x'],
  [
    'mongodb+srv://ada:x@db/?tlsCertificateKeyFilePassword=y',
    'mongodb+srv://ada:***@db/?tlsCertificateKeyFilePassword=***',
  ],
  [
    'mongodb://db/?authMechanismProperties=AWS_SESSION_TOKEN:y&w=1',
    'mongodb://db/?authMechanismProperties=***&w=1',
  ],
  ['redis://:hunter2@cache:6379/0', 'redis://:***@cache:6379/0'],
  ['redis://hunter2@cache', 'redis://***@cache'],
  ['/run/redis.sock?password=hunter2', '/run/redis.sock?password=***'],
])('%s is shown without its password', (uri, shown) => {
  expect(maskUri(uri)).toBe(shown);
});
