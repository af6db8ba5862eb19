import { Metrics } from '../../src/core/metrics';
import { Database, Lease, leaseModel, freshDatabase } from '../support/program';

test('the result of the work is returned even if the lease cannot be released', async () => {
  const database = new Database(new Metrics());
  await database.connect(freshDatabase());
  const lease = new Lease(database.model(leaseModel), 'migrations');
  const work = async (): Promise<never> => {
    await database.close();
    throw new Error('The work failed.');
  };
  await expect(lease.hold(work, () => undefined)).rejects.toThrow('The work failed.');
});
