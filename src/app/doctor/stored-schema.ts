import { SchemaError } from '../../data/schema/migration';
import { fault, type Finding, good, type OnlineCheck } from './check';

const MIGRATIONS = 'migrations';
const INDEXES = 'indexes';
const REMEDY = 'start the server of this version, or run `migrate up`';

/** Whether the data is in the form that this version needs, with all indexes that it declares. */
export const storedSchema: OnlineCheck = async ({ app }) => {
  try {
    const { isNew, pending, indexes } = await app.schema.status();
    if (isNew) return [good(MIGRATIONS, 'nothing is stored yet'), good(INDEXES, 'none yet')];
    const missing = indexes.flatMap(({ collection, missing: names, obsolete }): Finding[] => [
      ...names.map((name) => fault(INDEXES, `${collection} has no index on ${name}: ${REMEDY}.`)),
      ...obsolete.map((name) =>
        fault(INDEXES, `${collection} has an index ${name} of another version: ${REMEDY}.`),
      ),
    ]);
    return [
      pending.length === 0
        ? good(MIGRATIONS, 'all are done')
        : fault(
            MIGRATIONS,
            `An earlier version wrote the data (${pending.join(', ')}): ${REMEDY}.`,
          ),
      ...(missing.length > 0
        ? missing
        : [good(INDEXES, `all of ${app.database.models.length} collections`)]),
    ];
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return [fault(MIGRATIONS, error.message)];
  }
};
