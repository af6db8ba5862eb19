import { compareDurations } from '../support/duration-comparison';
import type { TestService } from '../support/service';
import { NOBODYS_ID } from '../support/shapes';
import { type Caller, callerOf, calls } from './foreign-calls';
import { startService } from '../support/program';

let service: TestService;
let ada: Caller;
let bob: Caller;

beforeAll(async () => {
  // From memory every list takes as long; without the jobs nothing else is done.
  service = await startService({ jobs: false, env: { ANSWER_CACHE_MB: '0' } });
  [ada, bob] = await Promise.all([callerOf(service), callerOf(service)]);
});
afterAll(() => service.close());

test.each(calls)(
  '%s over %s takes as long for another user’s record in %s as for a missing one',
  async (_operation, _transport, _where, { reference, call }) => {
    const timed = (id: string) => async () => {
      const start = performance.now();
      await call(ada, reference, id);
      return performance.now() - start;
    };
    const foreign = timed(bob.ids[reference.kind] ?? '');
    expect(await compareDurations(foreign, timed(NOBODYS_ID))).toMatchObject({ differ: false });
  },
);
