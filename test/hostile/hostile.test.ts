import { storeLargest } from '../support/largest';
import { startService, type TestService } from '../support/service';
import { ATTACKS } from './attacks';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test('while an account does its worst others are answered, and nothing fails unexpectedly', async () => {
  const [ada, mallory] = [await service.user(), await service.user({ tier: 'free' })];
  const plantId = await storeLargest(service.app, mallory.id, { plants: 25, events: 100 });
  const { id } = await ada.plant();
  const target = { url: service.url, ca: undefined, token: mallory.token, plantId };
  const state = { isAttacked: true };
  const attacks = Promise.all(Object.values(ATTACKS).map((attack) => attack(target))).finally(
    () => {
      state.isAttacked = false;
    },
  );
  let reads = 0;
  while (state.isAttacked) {
    await ada.get(`/api/plants/${id}`).expect(200);
    reads += 1;
  }
  await attacks;
  expect(reads).toBeGreaterThan(0);
  expect(service.logged.join('')).not.toContain('A request failed unexpectedly');
});
