import type { mongo } from 'mongoose';

import { startService } from '../support/program';
import type { TestService, TestUser } from './service';

/** The collections whose records carry revisions. */
export const TRACKED = ['plants', 'events', 'photos'];

/** Fields of plants that came with due care. */
const SINCE_CARE = {
  lastFertilized: '',
  wateringSnoozedUntil: '',
  wateringSnoozedAt: '',
  fertilizerSnoozedUntil: '',
  fertilizerSnoozedAt: '',
};

/** Stores data as releases before migrations and revisions did; returns its user. */
export async function oldData(
  { db, uri }: { db: mongo.Db; uri: string },
  fill: (user: TestUser, service: TestService) => Promise<void>,
): Promise<TestUser> {
  const service = await startService({ mongodbUri: uri });
  const user = await service.user();
  await fill(user, service);
  await service.close();
  for (const name of ['migrations', 'leases', 'deletions']) await db.dropCollection(name);
  await db.collection('plants').updateMany({}, { $unset: SINCE_CARE });
  await forgetDays(db);
  for (const name of TRACKED) {
    const collection = db.collection(name);
    await collection.updateMany({}, { $unset: { revision: '' } });
    for (const { name: index } of await collection.indexes()) {
      if (index?.includes('revision')) await collection.dropIndex(index);
    }
  }
  return user;
}

/** Removes the calendar days of moments, which earlier releases did not store. */
async function forgetDays(db: mongo.Db): Promise<void> {
  await db.collection('events').updateMany({}, { $unset: { occurredOn: '' } });
  const lastCare = { lastWatering: '', lastFertilizing: '' };
  await db.collection('plants').updateMany({}, { $unset: lastCare });
  await db
    .collection('growth')
    .updateMany({}, [
      { $set: { firstAt: '$first.at', lastAt: '$last.at' } },
      { $unset: ['first', 'last'] },
    ]);
}

/** A plant with a photo and three events. */
export async function aGarden(user: TestUser): Promise<void> {
  const plant = await user.plant();
  await user.photo({ plantId: plant.id });
  for (let count = 0; count < 3; count += 1) await user.event(plant.id);
}
