import type { mongo } from 'mongoose';

import { changeInChunks } from '../../../src/data/schema/migrating';
import type { Migration } from '../../../src/data/schema/migration';

/** Plants changed by one command: few enough that it is quick. */
const CHUNK = 100;

/** Adds the last fertilizing to plants, which only have their last watering. */
export const lastFertilized: Migration = {
  name: '0002-last-fertilized',
  besideOlder: false,
  run: async (run) => {
    const plants = run.collection('plants');
    const events = run.collection('events');
    const lastOf = async (plantId: mongo.UUID, userId: string): Promise<Date | null> => {
      const last = await events.findOne<{ occurredAt: Date }>(
        { userId, plantId, type: 'fertilized', deletedAt: null },
        { sort: { occurredAt: -1 }, projection: { occurredAt: 1 } },
      );
      return last?.occurredAt ?? null;
    };
    const options = { size: CHUNK, projection: { userId: 1 } } as const;
    await changeInChunks(run, plants, options, (chunk) =>
      Promise.all(
        chunk.map(async ({ _id, userId }) => {
          const $set = { lastFertilized: await lastOf(_id, String(userId)) };
          await plants.updateOne({ _id, lastFertilized: { $exists: false } }, { $set });
        }),
      ),
    );
  },
};
