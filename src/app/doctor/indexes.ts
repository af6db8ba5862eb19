import { indexDifference, nameOf } from '../../data/schema/indexes';
import { fault, type Finding, good, type OnlineCheck } from './check';

const CHECK = 'indexes';

/** Whether all indexes are there that this version declares. */
export const indexes: OnlineCheck = async ({ app }) => {
  const { models } = app.database;
  const missing = await Promise.all(
    models.map(async (each): Promise<Finding[]> => {
      const { model, missing } = await indexDifference(each);
      return missing.map((index) =>
        fault(
          CHECK,
          `${model.collection.name} has no index on ${nameOf(index)}: restart the server, which makes it.`,
        ),
      );
    }),
  );
  const faults = missing.flat();
  return faults.length > 0 ? faults : [good(CHECK, `all of ${models.length} collections`)];
};
