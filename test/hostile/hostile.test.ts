import type { TestService } from '../support/service';
import { attacksOn } from './attacks';
import { storeLargest, startService } from '../support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test('while an account does its worst others are answered, and nothing fails unexpectedly', async () => {
  const [ada, mallory] = [await service.user(), await service.user({ tier: 'free' })];
  const largest = await storeLargest(service.app, mallory.id, { plants: 25, events: 100 });
  const { id } = await ada.plant();
  const target = { ...largest, url: service.url, ca: undefined, token: mallory.token };
  const state = { isAttacked: true };
  const attacks = Promise.all(attacksOn(target).map(([, attack]) => attack(target))).finally(() => {
    state.isAttacked = false;
  });
  let reads = 0;
  while (state.isAttacked) {
    await ada.get(`/api/plants/${id}`).expect(200);
    reads += 1;
  }
  await attacks;
  expect(reads).toBeGreaterThan(0);
  expect(service.logged.join('')).not.toContain('A request failed unexpectedly');
});
