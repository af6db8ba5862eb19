import mongoose, { mongo, type SchemaType } from 'mongoose';

const { UUID } = mongoose.Schema.Types;

/**
 * Mongoose's own type knows only UUIDs of some versions, no bare Buffers (`StoredId`), and no order.
 */
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
    ...{ $gt: single, $gte: single, $lt: single, $lte: single },
  });
}
