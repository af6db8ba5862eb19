import type { Servers } from '../../src/servers';
import { start } from '../cli/run';
import { type OwnServer, ownProcess, until } from '../support/processes';
import { acquireServers } from '../../src/servers';
import { dataDirectory, removeDataDirectory } from '../support/program';

let dataDir: string;
let servers: Servers;
let hanging: number | undefined;

beforeEach(async () => {
  dataDir = await dataDirectory();
  servers = await acquireServers({ dataDir }, { role: 'server' });
});
afterEach(async () => {
  if (hanging !== undefined) process.kill(hanging, 'SIGCONT');
  await servers.release();
  await removeDataDirectory(dataDir);
});

/** Makes a managed server of a running program hang until the end of the test. */
function hang(name: OwnServer): void {
  hanging = ownProcess(dataDir, name);
  if (hanging === undefined) throw new Error(`There is no ${name}.`);
  process.kill(hanging, 'SIGSTOP');
}

test('a command reports that the managed MongoDB of a running server hangs', async () => {
  hang('mongod');
  const command = start(['user', 'list'], { DATA_DIR: dataDir });
  let hasEnded = false;
  void command.ended.then(() => (hasEnded = true));
  await until(() => hasEnded);
  expect(await command.ended).toMatchObject({
    code: 1,
    stderr:
      'MongoDB, which a server has started, does not respond: stop that server, which also stops MongoDB.\n',
  });
});
