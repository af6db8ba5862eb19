import { accountsPlugin, startService } from '../../../test/support/program';

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
