import { commandsDuring, filtersOf, startProxiedService } from '../support/program';
import type { ProxiedService } from '../support/proxied-service';
import { NOBODYS_ID } from '../support/shapes';
import { type Caller, callerOf, calls } from './foreign-calls';

let proxied: ProxiedService;
let ada: Caller;
let bob: Caller;

beforeAll(async () => {
  // Without cached responses and jobs, only the calls send commands to MongoDB.
  proxied = await startProxiedService({ jobs: false, env: { ANSWER_CACHE_MB: '0' } });
  [ada, bob] = await Promise.all([callerOf(proxied.service), callerOf(proxied.service)]);
});
afterAll(() => proxied.close());

test.each(calls)(
  '%s over %s sends the same MongoDB commands for another user’s record in %s as for an unknown id',
  async (_operation, _transport, _where, { reference, call }) => {
    /** The commands of a call, with the id replaced by a placeholder. */
    const asked = async (id: string) => {
      const commands = await commandsDuring(proxied.proxy, () => call(ada, reference, id));
      return commands.map((command) => {
        const { name, collection, inTransaction } = command;
        // Stored responses are looked up by a new key and the time, independently of the record.
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

/** Inserted documents have their own id and time. */
function withoutNews(command: string, text: string): string {
  if (command !== 'insert') return text;
  return text.replace(/"_id":"[^"]+"/g, '"_id":"NEW"').replace(/"[\dT:.-]+Z"/g, '"NOW"');
}
