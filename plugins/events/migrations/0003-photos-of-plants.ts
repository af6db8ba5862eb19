import type { mongo } from 'mongoose';

import { LIVE } from '../../../src/data/model/models';
import { changeInChunks, nextRevision } from '../../../src/data/schema/migrating';
import type { Migration, MigrationRun } from '../../../src/data/schema/migration';

/** Photos changed by one command: few enough that it is quick. */
const CHUNK = 100;

/**
 * Assigns photos without a plant to a plant that shows them, as requests do since 1.1.0. Photos of a
 * deleted plant look the same; they stay without a plant unless another one shows them.
 */
export const photosOfPlants: Migration = {
  name: '0003-photos-of-plants',
  besideOlder: false,
  run: async (run) => {
    const photos = run.collection('photos');
    // Data of the first release lacks these indexes, without which each look-up would scan all records.
    const [plants, events] = [run.collection('plants'), run.collection('events')];
    await plants.createIndex({ userId: 1, primaryPhotoId: 1, revision: 1, _id: 1 }, {}, {});
    const ofPhoto = { userId: 1, 'photos.photoId': 1, revision: 1, _id: 1 } as const;
    await events.createIndex(ofPhoto, { partialFilterExpression: LIVE }, {});
    const claim = async (_id: mongo.UUID, userId: string): Promise<void> => {
      const plantId = await plantShowing(run, userId, _id);
      if (!plantId) return;
      const $set = { plantId, revision: await nextRevision(run, userId) };
      await photos.updateOne({ _id, plantId: null }, { $set });
    };
    const projection = { userId: 1, plantId: 1 } as const;
    await changeInChunks(run, photos, { size: CHUNK, projection }, (chunk) => {
      const free = chunk.filter(({ plantId }) => !plantId);
      return Promise.all(free.map(({ _id, userId }) => claim(_id, String(userId))));
    });
  },
};

/** The oldest plant that has a photo as its primary one, or else the plant of its first event. */
async function plantShowing(
  run: MigrationRun,
  userId: string,
  photoId: mongo.UUID,
): Promise<mongo.UUID | undefined> {
  const plants = run.collection('plants');
  const projection = { _id: 1 } as const;
  const sort = { createdAt: 1 } as const;
  const shown = { userId, primaryPhotoId: photoId };
  const plant = await plants.findOne(shown, { sort, projection });
  if (plant) return plant._id;
  const inEvent = { ...LIVE, userId, 'photos.photoId': photoId };
  const events = run.collection('events').find<{ plantId: mongo.UUID }>(inEvent, {
    sort,
    projection: { plantId: 1 },
  });
  for await (const { plantId } of events) {
    // Events of a plant that was deleted just now may still be there.
    if (await plants.findOne({ userId, _id: plantId }, { projection })) return plantId;
  }
  return undefined;
}
