import fc from 'fast-check';

import { resetClock, setClock } from '../../support/clock';
import { startService } from '../../support/program';
import type { TestService } from '../../support/service';
import { Person } from './person';
import { anyWrite, FIRST, ZONES } from './writes';

/** How long to search; each run has another seed, and a longer search is sometimes worthwhile. */
const SEARCH_MS = Number(process.env['MODEL_SECONDS'] ?? 2) * 1000;
/** Shortly before February of a leap year. */
const START = Date.parse('2028-01-30T10:20:00Z');

let service: TestService;

beforeAll(async () => {
  service = await startService({ jobs: false });
});
afterEach(resetClock);
afterAll(() => service.close());

test(
  'due care, and copies on two devices of three people, agree with the records at every step',
  async () => {
    const end = Date.now() + SEARCH_MS;
    const history = fc.array(anyWrite, { minLength: 90, maxLength: 120, size: 'max' });
    const first = fc.tuple(...FIRST.map((kind) => anyWrite.map((write) => ({ ...write, kind }))));
    const gardens = fc.tuple(first, first, first);
    const everyStepFits = fc.asyncProperty(gardens, history, async (beginnings, writes) => {
      resetClock();
      setClock(START);
      const people = await Promise.all(
        ZONES.slice(0, 3).map(async (timezone) => {
          const user = await service.user({ timezone, expiresInSeconds: 10 * 365 * 86_400 });
          return new Person(service, user, timezone);
        }),
      );
      for (const [index, beginning] of beginnings.entries()) {
        for (const write of beginning) {
          await people[index]?.write(write);
          await people[index]?.compare();
        }
      }
      for (const write of writes) {
        const person = people[write.user];
        await person?.write(write);
        for (const each of write.kind === 'wait' ? people : [person]) await each?.compare();
      }
      for (const person of people) await person.end();
    });
    let seed = Number(process.env['MODEL_SEED'] ?? Date.now() % 2 ** 31);
    do {
      try {
        await fc.assert(everyStepFits, { seed, numRuns: 1, endOnFailure: true });
      } catch (error) {
        throw new Error(`To see it again set MODEL_SEED=${seed}.`, { cause: error });
      }
      seed += 1;
      resetClock();
    } while (Date.now() < end);
  },
  300_000 + 4 * SEARCH_MS,
);
