import { Receiver, webhookOf } from '../../../plugins/webhooks/test/receiver';
import { backendOf } from '../../support/backend';
import { record, records } from '../../support/client';
import { until } from '../../support/processes';
import { startService, userOf } from '../../support/program';
import type { TestService } from '../../support/service';

const env = { WEBHOOK_ALLOW_PRIVATE: 'true' };
const PEOPLE = 5;
const ROUNDS = 10;

let services: TestService[];
let receiver: Receiver;

beforeAll(async () => {
  const first = await startService({ env });
  const { mongodbUri } = first;
  const others = [0, 1].map(() => startService({ mongodbUri, env }));
  services = [first, ...(await Promise.all(others))];
  receiver = await Receiver.start();
});
afterAll(async () => {
  await receiver.close();
  for (const each of services.toReversed()) await each.close();
});

test('only one of several processes delivers the events of an account at a time', async () => {
  const [first] = services;
  if (!first) return;
  await webhookOf(await backendOf(first, 'shop'), receiver.url, 'plant.created');
  receiver.answer = () => new Promise((resolve) => setTimeout(resolve, 5, 200));
  const people = await Promise.all(Array.from({ length: PEOPLE }, () => first.user()));
  await Promise.all(
    people.map(async ({ id, token }) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const { url } of services) await userOf(url, id, token).plant();
      }
    }),
  );
  const expected = ROUNDS * services.length;
  for (const each of people) {
    const delivered = () => receiver.of(each.id).map(({ body }) => record(body['data'])['plantId']);
    await until(() => new Set(delivered()).size === expected);
    const made = records((await each.get('/api/plants').expect(200)).body);
    // In the order of their creation, which is that of the list.
    expect(delivered()).toEqual(made.map(({ id }) => id));
  }
  expect(receiver.mostAtOnce).toBe(1);
});
