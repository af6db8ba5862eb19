import { commandsDuring, filtersOf, startProxiedService } from '../support/program';
import type { ProxiedService } from '../support/proxied-service';
import { NOBODYS_ID } from '../support/shapes';
import { type Caller, callerOf, calls } from './foreign-calls';

let proxied: ProxiedService;
let ada: Caller;
let bob: Caller;

beforeAll(async () => {
  // Lists are not answered from memory, and nothing but the calls asks MongoDB for anything.
  proxied = await startProxiedService({ jobs: false, env: { ANSWER_CACHE_MB: '0' } });
  [ada, bob] = await Promise.all([callerOf(proxied.service), callerOf(proxied.service)]);
});
afterAll(() => proxied.close());

test.each(calls)(
  '%s over %s asks MongoDB the same for another user’s record in %s as for a missing one',
  async (_operation, _transport, _where, { reference, call }) => {
    /** What is sent for an id, in whose place it says so. */
    const asked = async (id: string) => {
      const commands = await commandsDuring(proxied.proxy, () => call(ada, reference, id));
      return commands.map((command) => {
        const { name, collection, inTransaction } = command;
        // Kept answers are looked up by a new key and the time, and by nothing of the record.
        const filters =
          collection !== 'keptAnswers' &&
          withoutNews(name, JSON.stringify(filtersOf(command)).replaceAll(id, 'ID'));
        return { name, collection, inTransaction, filters };
      });
    };
    const missing = await asked(NOBODYS_ID);
    expect(missing.length).toBeGreaterThan(0);
    expect(await asked(bob.ids[reference.kind] ?? '')).toEqual(missing);
  },
);

/** What is inserted has an id of its own, and the time. */
function withoutNews(command: string, text: string): string {
  if (command !== 'insert') return text;
  return text.replace(/"_id":"[^"]+"/g, '"_id":"NEW"').replace(/"[\dT:.-]+Z"/g, '"NOW"');
}
