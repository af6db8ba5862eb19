import { backendOf } from '../../../test/support/backend';
import {
  accountsPlugin,
  everythingStored,
  gardenOf,
  startService,
  until,
  userOf,
} from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';

test('an account whose deletion fails stops the deletion of no other, and is tried again', async () => {
  const service = await startService({ jobs: false });
  const users = await Promise.all([1, 2, 3].map(() => service.user()));
  const [bad, ...good] = users.sort((a, b) => (a.id < b.id ? -1 : 1));
  let isBroken = true;
  service.app.exportsOf(accountsPlugin).data.keep({
    name: 'broken',
    count: async () => 0,
    export: async function* () {},
    erase: async (userId) => {
      if (isBroken && userId === bad?.id) throw new Error('It cannot be deleted.');
    },
  });
  for (const user of users) {
    await user.delete('/api/account').send({ confirm: user.id }).expect(200);
  }
  const accounts = service.app.database.connection.collection('accounts');
  const left = async () => (await accounts.find().toArray()).map(({ _id }) => String(_id));
  await expect(service.runJob('deletion of closed accounts')).rejects.toThrow('cannot be deleted');
  expect(await left()).toEqual([bad?.id]);
  expect(good).toHaveLength(2);
  isBroken = false;
  await service.runJob('deletion of closed accounts');
  expect(await left()).toEqual([]);
  await service.close();
});

describe('within seconds nothing is left of an account, and its name is free,', () => {
  test.each([
    ['of this process', true],
    ['of another process', false],
    ['of several processes', 'both'],
  ])('thanks to the jobs %s', async (_, jobs) => {
    const service = await startService({ jobs: jobs !== false });
    const { mongodbUri } = service;
    const other = await startService({ mongodbUri, jobs: jobs !== true });
    const shop = await backendOf(service, 'shop');
    const user = await service.user();
    const { plant } = await gardenOf(user);
    const events = Array.from({ length: 20 }, () => ({ type: 'watered', text: user.id }));
    const plants = Array.from({ length: 100 }, () => ({ name: 'Fern', events }));
    await user.post('/api/import', { plants }).expect(201);
    const at = performance.now();
    await user.delete('/api/account').send({ confirm: user.id }).expect(200);
    const name = `/api/accounts/${user.id}`;
    await until(async () => (await shop.put(name, { tier: 'pro' })).status === 201);
    expect(performance.now() - at).toBeLessThan(5000);
    const { token } = bodyOf(await shop.post(`${name}/tokens`, { name: 'New' }).expect(201));
    const back = userOf(other.url, user.id, String(token));
    const { id } = await back.plant({ name: 'Oak' });
    const left = JSON.stringify(await everythingStored(service));
    expect(left).toContain(id);
    expect(left).not.toContain(plant);
    expect(left).not.toContain('Fern');
    await other.close();
    await service.close();
  });
});

test('another process that was late deletes nothing of a new account of the same name', async () => {
  const service = await startService({ jobs: false });
  const other = await startService({ mongodbUri: service.mongodbUri, jobs: false });
  const shop = await backendOf(service, 'shop');
  const user = await service.user();
  await user.plant();
  await user.delete('/api/account').send({ confirm: user.id }).expect(200);
  const data = (of: TestService) => of.app.exportsOf(accountsPlugin).data;
  let late: Promise<void> | undefined;
  await data(service).deleteUser(user.id, () => {
    late ??= data(other).deleteUser(user.id, () => undefined);
  });
  await shop.put(`/api/accounts/${user.id}`).expect(201);
  const { items } = bodyOf(await shop.get('/api/accounts').expect(200));
  await late;
  expect(bodyOf(await shop.get('/api/accounts').expect(200))['items']).toEqual(items);
  await other.close();
  await service.close();
});
