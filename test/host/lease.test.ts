import { Metrics } from '../../src/core/metrics';
import { Database } from '../../src/data/database';
import { Lease, leaseModel } from '../../src/data/schema/lease';
import { freshDatabase } from '../support/databases';

test('what became of the work is known also where its lease cannot be given back', async () => {
  const database = new Database(new Metrics());
  await database.connect(freshDatabase());
  const lease = new Lease(database.records(leaseModel), 'migrations');
  const work = async (): Promise<never> => {
    await database.close();
    throw new Error('The work failed.');
  };
  await expect(lease.hold(work, () => undefined)).rejects.toThrow('The work failed.');
});
