import type { TestService } from '../../../test/support/service';
import { logMany, startService, eventsPlugin } from '../../../test/support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test('while many events are counted others get their turn', async () => {
  const user = await service.user();
  const { id } = await user.plant();
  await logMany(service.app, user.id, { [id]: 12_000 });
  let turns = 0;
  let isCounting = true;
  const takeTurn = (): void => {
    turns += 1;
    if (isCounting) setImmediate(takeTurn);
  };
  setImmediate(takeTurn);
  const { events } = service.app.exportsOf(eventsPlugin);
  let [counted, inOneTurn, mostInOneTurn, turn] = [0, 0, 0, turns];
  await service.app.database.snapshot(async (session) => {
    for await (const { type } of events.careEntries(user.id, session)) {
      if (turn !== turns) [inOneTurn, turn] = [0, turns];
      inOneTurn += 1;
      counted += type.length > 0 ? 1 : 0;
      mostInOneTurn = Math.max(mostInOneTurn, inOneTurn);
    }
  });
  isCounting = false;
  expect(counted).toBe(12_000);
  expect(mostInOneTurn).toBeLessThan(5000);
});
