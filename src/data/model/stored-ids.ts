import mongoose, { mongo, type SchemaType } from 'mongoose';

const { UUID } = mongoose.Schema.Types;

/** Extends Mongoose's UUID type to all versions of UUIDs, Buffers (`StoredId`) and comparisons. */
export function acceptStoredIds(): void {
  UUID.cast((value: unknown) => {
    if (value === null || value instanceof mongo.UUID) return value;
    return new mongo.UUID(Buffer.isBuffer(value) ? value : String(value));
  });
  const single = function cast(this: SchemaType, value: unknown): unknown {
    return this.cast(value);
  };
  Object.assign(UUID.prototype, { checkRequired: (value: unknown) => value != null });
  Object.assign(UUID.prototype.$conditionalHandlers, {
    $gt: single, $gte: single, $lt: single, $lte: single,
  });
}
