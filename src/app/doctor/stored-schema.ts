import { SchemaError } from '../../data/schema/migration';
import { fault, type Finding, good, type OnlineCheck } from './check';

const MIGRATIONS = 'migrations';
const INDEXES = 'indexes';
const REMEDY = 'start the server of this version, or run `migrate up`';

/** Whether the data is in the form that this version needs, with all indexes that it declares. */
export const storedSchema: OnlineCheck = async ({ app }) => {
  try {
    const { isNew, pending, collections, indexes } = await app.schema.status();
    if (isNew) return [good(MIGRATIONS, 'nothing is stored yet'), good(INDEXES, 'none yet')];
    const faults = [
      ...collections.map((name) => `The collection ${name} is missing`),
      ...indexes.flatMap(({ collection, missing, obsolete }) => [
        ...missing.map((name) => `${collection} has no index on ${name}`),
        ...obsolete.map((name) => `${collection} has an index ${name} of another version`),
      ]),
    ].map((each): Finding => fault(INDEXES, `${each}: ${REMEDY}.`));
    return [
      pending.length === 0
        ? good(MIGRATIONS, 'all are done')
        : fault(
            MIGRATIONS,
            `An earlier version wrote the data (${pending.join(', ')}): ${REMEDY}.`,
          ),
      ...(faults.length > 0
        ? faults
        : [good(INDEXES, `all of ${app.database.models.length} collections`)]),
    ];
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return [fault(MIGRATIONS, error.message)];
  }
};
