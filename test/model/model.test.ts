import fc from 'fast-check';

import { Client } from '../support/client';
import type { TestService } from '../support/service';
import { Actor, same, type World } from './actor';
import { anyCommand } from './commands';
import { expectEverything } from './final';
import { Garden } from './model';
import type { AccountFacts } from './records';
import { differencesOf, startService } from '../support/program';

/** Low enough for a free account to reach its limits within one run. */
const FREE = { maxPlants: 3, maxPhotos: 4 };
const PRO = { maxPlants: 1000, maxPhotos: 20_000 };

/** Three users whose calendars differ as much as they can. */
const USERS: readonly Omit<AccountFacts, 'id'>[] = [
  { timezone: 'Pacific/Kiritimati', isPro: true, ...PRO },
  { timezone: 'America/St_Johns', isPro: true, ...PRO },
  { timezone: 'Pacific/Pago_Pago', isPro: false, ...FREE },
];

/** How long to search; each run has another seed, and a longer search is sometimes worthwhile. */
const SEARCH_MS = Number(process.env['MODEL_SECONDS'] ?? 2) * 1000;

/** How long to shrink a failure afterwards. */
const SHRINKING_MS = 10_000;

let service: TestService;

beforeAll(async () => {
  service = await startService({
    env: { TIER_FREE_PLANTS: String(FREE.maxPlants), TIER_FREE_PHOTOS: String(FREE.maxPhotos) },
  });
});
afterAll(() => service.close());

async function anActor(facts: Omit<AccountFacts, 'id'>, world: World): Promise<Actor> {
  const { id, token } = await service.user({
    tier: facts.isPro ? 'pro' : 'free',
    timezone: facts.timezone,
  });
  return new Actor(new Garden({ id, ...facts }), world, new Client(service.url, token));
}

test(
  'whatever three users do concurrently, each gets the responses of the specification',
  async () => {
    const end = Date.now() + SEARCH_MS;
    const lane = fc.array(anyCommand, { minLength: 20, maxLength: 40, size: 'max' });
    const everyAnswerFits = fc.asyncProperty(fc.tuple(lane, lane, lane), async (lanes) => {
      // Late runs pass, which ends the shrinking.
      if (Date.now() > end + SHRINKING_MS) return;
      const world: World = {
        base: Math.floor(Date.now() / 3_600_000) * 3_600_000,
        known: { plants: [], events: [], photos: [] },
      };
      const actors = await Promise.all(USERS.map((facts) => anActor(facts, world)));
      await Promise.all(
        actors.map(async (actor, index) => {
          for (const each of lanes[index] ?? []) await each.run(actor);
        }),
      );
      await Promise.all(
        actors.map(async (actor) => {
          await expectEverything(actor);
          const differences = await differencesOf(service.app, actor.garden.account.id);
          same(differences, [], 'derived data, rebuilt');
        }),
      );
    });
    let seed = Number(process.env['MODEL_SEED'] ?? Date.now() % 2 ** 31);
    do {
      try {
        await fc.assert(everyAnswerFits, { seed, numRuns: 1 });
      } catch (error) {
        throw new Error(`To see it again set MODEL_SEED=${seed}.`, { cause: error });
      }
      seed += 1;
    } while (Date.now() < end);
  },
  60_000 + SEARCH_MS,
);
