import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { makeCertificate } from '../support/certificate';
import { resetClock, setClock } from '../support/clock';
import { record } from '../support/client';
import { CAN_MOUNT, mountTmpfs } from '../support/tmpfs';
import type { TestService } from '../support/service';
import { CommandLine, run } from './run';
import {
  certificate,
  hostSettings,
  Settings,
  freshDatabase,
  startService,
} from '../support/program';

let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'doctor-test-'));
  service = await startService({});
});
afterEach(resetClock);
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

/** The findings and exit code of doctor with some settings. */
async function doctor(env: NodeJS.ProcessEnv, ...args: string[]) {
  const cli = new CommandLine(service.mongodbUri, {
    DATA_DIR: path.join(folder, 'data'),
    PORT: '1',
    ...env,
  });
  const { code, stdout, stderr } = await cli.run('doctor', '--json', ...args);
  expect(stderr).toBe('');
  const findings = (JSON.parse(stdout) as unknown[])
    .map(record)
    .map((each) => ({ check: each['check'], ok: each['ok'], finding: each['finding'] }));
  return { code, findings, faults: findings.filter(({ ok }) => ok !== true) };
}

/** Expects one fault, whose sentence says what to do. */
function expectFault(found: Awaited<ReturnType<typeof doctor>>, check: string, sentence: RegExp) {
  expect(found).toMatchObject({ code: 1, faults: [{ check }] });
  expect(found.faults[0]?.finding).toMatch(sentence);
  expect(found.faults[0]?.finding).toMatch(/^[A-Z/][^\n]*: [^\n]+\.$/);
}

test('doctor reports each check if there are no faults', async () => {
  const { code, findings, faults } = await doctor({});
  expect({ code, faults }).toEqual({ code: 0, faults: [] });
  expect(findings.map(({ check }) => check)).toEqual([
    'disk of DATA_DIR',
    'disk of backups',
    'rights of files',
    'certificate',
    'last backup',
    'mail server',
    'MongoDB',
    'replica set',
    'clock',
    'derived data',
  ]);
  const quick = await doctor({}, '--quick');
  expect(quick.findings.map(({ check }) => check)).not.toContain('derived data');
});

test('doctor prints a table, and starts managed servers if none are running', async () => {
  const dataDir = path.join(folder, 'own');
  await run(['token', 'create', '--user', 'ada'], { DATA_DIR: dataDir });
  const { code, stdout } = await run(['doctor'], { DATA_DIR: dataDir });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ +CHECK +FOUND\nok +disk of DATA_DIR +/);
  expect(stdout).toMatch(
    /\nok +replica set +plantcare, 1 healthy member\n[^]*\nNo faults found\.\n$/,
  );
});

test('doctor refuses invalid settings as other commands do', async () => {
  const cli = new CommandLine(service.mongodbUri, { PORT: 'x', BACKUP_KEEP: '0' });
  const { code, stderr } = await cli.run('doctor');
  expect(code).toBe(2);
  expect(stderr).toMatch(/^[^]*PORT[^]*BACKUP_KEEP/);
});

test('doctor finds that MongoDB is unreachable', async () => {
  const env = { MONGODB_URI: 'mongodb://127.0.0.1:1', DATA_DIR: path.join(folder, 'data') };
  const { code, stdout } = await run(['doctor'], env);
  expect(code).toBe(1);
  expect(stdout).toMatch(/\nFAULT +servers +The MongoDB of MONGODB_URI cannot be reached: /);
});

(CAN_MOUNT ? test : test.skip)('doctor finds a disk that is nearly full', async () => {
  const small = path.join(folder, 'small');
  await mkdir(small);
  const unmount = mountTmpfs(small, 'size=64m,mode=700');
  try {
    const found = await doctor({ BACKUP_DIR: small }, '--quick');
    expectFault(found, 'disk of backups', /Only 0\.1 GiB is free in .*\/small: free /);
  } finally {
    unmount();
  }
});

test("doctor finds a clock that differs from MongoDB's", async () => {
  setClock(Date.now() + 60_000);
  expectFault(await doctor({}, '--quick'), 'clock', /(59|60)\.\d s ahead of that of MongoDB/);
});

test('doctor finds files that other users can read', async () => {
  const dataDir = path.join(folder, 'open');
  await mkdir(path.join(dataDir, 'backups'), { recursive: true, mode: 0o700 });
  await chmod(path.join(dataDir, 'backups'), 0o755);
  const found = await doctor({ DATA_DIR: dataDir }, '--quick');
  expectFault(found, 'rights of files', /run chmod go= '.*\/open\/backups'/);
});

test('doctor finds a certificate that expires soon', async () => {
  // It is valid for a day.
  const { cert, key } = makeCertificate();
  const env = {
    TLS_CERT_FILE: path.join(folder, 'cert.pem'),
    TLS_KEY_FILE: path.join(folder, 'key.pem'),
  };
  await writeFile(env.TLS_CERT_FILE, cert);
  await writeFile(env.TLS_KEY_FILE, key, { mode: 0o600 });
  expectFault(await doctor(env, '--quick'), 'certificate', /expires on \d{4}-.*SIGHUP/);
});

test('doctor finds a certificate that it cannot read', async () => {
  const { cert, key } = makeCertificate();
  const [certFile, keyFile] = ['gone.pem', 'gone-key.pem'].map((name) => path.join(folder, name));
  await Promise.all([
    writeFile(certFile ?? '', cert),
    writeFile(keyFile ?? '', key, { mode: 0o600 }),
  ]);
  const env = { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile };
  const settings = new Settings(Object.values(hostSettings), env);
  await rm(certFile ?? '');
  const [found] = await certificate(settings);
  expect(found).toMatchObject({ check: 'certificate', ok: false });
  expect(found?.finding).toMatch(/cannot be read .*: run doctor as /);
});

test('doctor finds that a backup is overdue', async () => {
  const env = { BACKUP_EVERY_HOURS: '24', BACKUP_DIR: path.join(folder, 'backups') };
  expectFault(await doctor(env, '--quick'), 'last backup', /there is none.*`backup create`/);
  await mkdir(env.BACKUP_DIR, { mode: 0o700 });
  for (const year of ['2020', '9020']) {
    const name = `plant-care-scheduled-${year}-01-01T00-00-00Z.tar.gz`;
    await writeFile(path.join(env.BACKUP_DIR, name), '', { mode: 0o600 });
  }
  expectFault(await doctor(env, '--quick'), 'last backup', /made at 2020-01-01T00:00:00/);
  await new CommandLine(service.mongodbUri, env).json('backup', 'create');
  expect(await doctor(env, '--quick')).toMatchObject({ code: 0 });
});

test('doctor says of data that lacks a collection what other commands say', async () => {
  const { connection } = service.app.database;
  await connection.dropCollection('careMonths');
  const said = /^The data is from an earlier release: [^\n]+`migrate up`\.$/;
  expectFault(await doctor({}), 'servers', said);
  expect(await new CommandLine(service.mongodbUri).run('migrate', 'up')).toMatchObject({ code: 0 });
  expect(await doctor({})).toMatchObject({ code: 0 });
});

test('doctor accepts an empty database, and other commands still accept it too', async () => {
  const uri = freshDatabase();
  const cli = new CommandLine(uri, { DATA_DIR: path.join(folder, 'data') });
  expect(await cli.text('doctor')).toMatch(/\nNo faults found\.\n$/);
  expect(await cli.json('user', 'list')).toEqual([]);
});

test('doctor finds wrong derived data', async () => {
  const user = await service.user();
  await user.plant();
  const plants = service.app.database.connection.collection('plants');
  await plants.updateMany({ userId: user.id }, { $set: { lastWatered: new Date(0) } });
  expectFault(await doctor({}), 'derived data', /differences: 1.*`reconcile --repair`/);
  await new CommandLine(service.mongodbUri).json('reconcile', '--repair');
});
