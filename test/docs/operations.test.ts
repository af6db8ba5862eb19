import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { commandsOf, FAILING_CURL, npmFor, REFERENCES } from '../support/documented-commands';
import {
  accountsPlugin as accounts,
  asOperator,
  dataDirectory,
  RealServer,
  removeDataDirectory,
  builtProgram,
} from '../support/program';

const ROOT = path.resolve(__dirname, '../..');
/** These change the project's folder, or stop and start the server of the others. */
const APART = [
  'npm ci',
  'npm run build',
  'npm start',
  'kill -TERM "$SERVER_PID"',
  'while kill -0 "$SERVER_PID"; do sleep 1; done',
];

let dataDir: string;
let server: RealServer;

beforeEach(async () => {
  dataDir = await dataDirectory();
  server = await RealServer.start(dataDir);
});
afterEach(async () => {
  await server.kill();
  await removeDataDirectory(dataDir);
});

test('every command for operators works as written, on a running server', async () => {
  const tokenId = await asOperator(dataDir, async (app) => {
    const wanted = { userId: 'ada', scopes: [], name: 'phone', expiresInSeconds: 3600 };
    return (await app.exportsOf(accounts).tokens.createToken(wanted)).view.id;
  });
  const commands = commandsOf('docs/operations.md');
  expect(commands).toEqual(expect.arrayContaining(APART));
  // Each once; test/cli/readme.test.ts runs those of the README and the references.
  const elsewhere = [...APART, ...REFERENCES.flatMap(commandsOf)];
  const own = new Set(commands.filter((command) => !elsewhere.includes(command)));
  const script = [
    // The build under test, which may not be in dist.
    npmFor('node "$CLI"'),
    FAILING_CURL,
    ...own,
  ].join('\n');
  const { PATH, HOME, XDG_CACHE_HOME, MONGOD_BINARY } = process.env;
  const shell = spawn(
    'bash',
    ['-euxo', 'pipefail', '-c', script.replaceAll('localhost:3000', new URL(server.url).host)],
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH,
        HOME,
        XDG_CACHE_HOME,
        MONGOD_BINARY,
        DATA_DIR: dataDir,
        CLI: path.join(builtProgram(), 'src/cli/main.js'),
        SERVER_PID: String(server.process.pid),
        TOKEN_ID: tokenId,
      },
    },
  );
  let output = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  }
  const [code] = (await once(shell, 'close')) as unknown[];
  if (code !== 0) throw new Error(output);
  expect(output).toMatch(/today\.tar\.gz is intact: [^]*Restored [^]*No faults found\./);
  expect(await server.stop()).toBe(0);
}, 300_000);
