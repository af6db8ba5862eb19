import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { operationName } from '../../src/plugins/operation';
import { gardenOf } from '../support/garden';
import { CLIENT_METHODS, fullRequest, operationRows } from '../support/operations';
import { type ProxiedService, startProxiedService } from '../support/proxied-service';
import type { TestUser } from '../support/service';

const FILE = path.resolve(__dirname, '../../docs/commands.md');

/** The example of a plugin, which is not part of the program: its collection and path. */
const FIXTURE = 'reminders';

const INTRODUCTION = `# The commands to MongoDB

What each operation asks of MongoDB, in order. \`make docs\` renews this file by calling each and
listening to what goes over the wire; bodies have every field. Those of a transaction are in brackets. A read is hot where
nothing was written since it was last answered. Writes are sent without an \`Idempotency-Key\`; one
adds a look-up before the transaction, and to it what the account has stored today and the response.

`;

let proxied: ProxiedService;
let user: TestUser;

beforeAll(async () => {
  proxied = await startProxiedService({ jobs: false });
  user = await proxied.service.user();
});
afterAll(() => proxied.close());

/** The commands that are sent while `work` runs. */
async function commandsOf(work: () => Promise<unknown>): Promise<string[]> {
  const sent: { text: string; inTransaction: boolean }[] = [];
  proxied.proxy.onCommand(({ name, collection, inTransaction }) => {
    if (name !== 'hello' && name !== 'endSessions' && collection !== FIXTURE) {
      const text = collection === undefined ? name : `${collection}.${name}`;
      sent.push({ text, inTransaction });
    }
    return undefined;
  });
  await work();
  proxied.proxy.restore();
  return sent.map(({ text, inTransaction }, index) => {
    const opens = inTransaction && sent[index - 1]?.inTransaction !== true;
    const closes = inTransaction && sent[index + 1]?.inTransaction !== true;
    return `${opens ? '[' : ''}${text}${closes ? ']' : ''}`;
  });
}

test('docs/commands.md is what each operation asks of MongoDB, hot and cold', async () => {
  let ids = await gardenOf(user);
  const lines = [];
  for (const [, operation] of operationRows()) {
    if ('public' in operation.access || operation.path.startsWith(`/api/${FIXTURE}`)) continue;
    const { method, path: target, body } = fullRequest(operation, ids);
    const call = () => user[CLIENT_METHODS[method]](target, body).expect(operation.response.status);
    // Moves the revision, and so makes all that was answered old.
    await user.photo();
    const cold = await commandsOf(call);
    const hot = method === 'GET' ? (await commandsOf(call)).join(', ') : '-';
    lines.push(`| ${operationName(operation)} | ${hot} | ${cold.join(', ')} |`);
    if (method !== 'DELETE') continue;
    // What is deleted leaves work behind that reads would meet.
    user = await proxied.service.user();
    ids = await gardenOf(user);
  }
  const table = ['| operation | hot | cold |', '| --- | --- | --- |', ...lines];
  const current = `${INTRODUCTION}${table.join('\n')}\n`;
  if (process.env['UPDATE_DOCS'] !== undefined) writeFileSync(FILE, current);
  expect(readFileSync(FILE, 'utf8')).toBe(current);
});

test('events that are logged at once share their commands', async () => {
  const plant = await user.plant();
  const log = (count: number) =>
    commandsOf(() => Promise.all(Array.from({ length: count }, () => user.event(plant.id))));
  // The first goes ahead alone; all that come meanwhile travel together.
  const inTransactions = (commands: readonly string[]) =>
    commands.filter((command) => !command.includes('accounts.find')).length;
  const one = inTransactions(await log(1));
  expect(inTransactions(await log(40))).toBeLessThan(6 * one);
});
