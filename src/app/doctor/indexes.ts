import { fault, type Finding, good, type OnlineCheck } from './check';

const CHECK = 'indexes';

/** Whether all indexes are there that this version declares. */
export const indexes: OnlineCheck = async ({ app }) => {
  const models = Object.values(app.database.connection.models);
  const missing = await Promise.all(
    models.map(async (model): Promise<Finding[]> => {
      const { toCreate } = await model.diffIndexes();
      return toCreate.map((keys: unknown) =>
        fault(
          CHECK,
          `${model.collection.name} has no index on ${JSON.stringify(keys)}: restart the server, which makes it.`,
        ),
      );
    }),
  );
  const faults = missing.flat();
  return faults.length > 0 ? faults : [good(CHECK, `all of ${models.length} collections`)];
};
