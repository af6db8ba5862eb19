import type { Model, Schema } from 'mongoose';

import { owned, type OwnedModel } from './owner';
import { counted } from './quotas';
import { tracked } from './tracking';
import { grouped } from '../writing/write-buffer';

export { LIVE, type Tenant } from './owner';

/** Data that no account owns, and why. */
interface Shared {
  shared: string;
}

/** How a sharded cluster stores a collection (docs/scaling.md, "A sharded cluster"). */
export type Sharding =
  | {
      /** The field whose value determines the shard; every query of a request names one. */
      shardKey: string;
    }
  | {
      /** Why the collection stays on one shard. */
      oneShard: string;
    };

/** The type of a Mongoose model by the owner of its documents. */
export type ModelOf<T, Owner> = Owner extends 'account' ? OwnedModel<T> : Model<T>;

interface AccountModelOptions {
  /** The kind of its records in `GET /api/changes` (see `tracked`). */
  tracked?: string;
  /** Whether deleted records stay, with `deletedAt` set. */
  softlyDeleted?: boolean;
  /** The quota that its records count against (see `counted`). */
  quota?: string;
  /** Records do not count while this field has a value. */
  exemptedBy?: string;
}

/**
 * The declaration of a model.
 *
 * `owner: 'account'` is user data: every document has `userId`, every index of a plugin leads with it,
 * and a query without it throws. Other models say why they are shared.
 */
export interface ModelDefinition<
  T = unknown,
  Owner = 'account' | Shared,
> extends AccountModelOptions {
  name: string;
  schema: Schema;
  owner: Owner;
  sharding: Sharding;
  /** Never set: it carries the type of the documents. */
  document?: T;
}

/** Declares a model of user data. Its schema names the collection. */
export function accountModel<T>(
  name: string,
  schema: Schema,
  options: AccountModelOptions = {},
): ModelDefinition<T, 'account'> {
  const { tracked: kind, softlyDeleted = false, quota, exemptedBy } = options;
  if (kind !== undefined) schema.plugin(tracked, { kind, softlyDeleted });
  if (quota !== undefined) schema.plugin(counted, { quota, exemptedBy });
  const sharding = { shardKey: 'userId' };
  return {
    name,
    schema: sharded(exact(schema).plugin(owned), sharding),
    owner: 'account',
    sharding,
    ...options,
  };
}

/** Declares a model of data that no account owns. @param shared why */
export function sharedModel<T>(
  name: string,
  shared: string,
  sharding: Sharding,
  schema: Schema,
): ModelDefinition<T, Shared> {
  return { name, schema: sharded(exact(schema), sharding), owner: { shared }, sharding };
}

function sharded(schema: Schema, sharding: Sharding): Schema {
  return 'shardKey' in sharding ? schema.set('shardKey', { [sharding.shardKey]: 1 }) : schema;
}

/** Stores documents as given; unknown paths throw. */
function exact(schema: Schema): Schema {
  return schema
    .set('versionKey', false)
    .set('minimize', false)
    .set('strict', 'throw')
    .set('strictQuery', 'throw')
    .plugin(grouped);
}

/** Whether a model is tracked. */
export function isTracked(
  definition: ModelDefinition,
): definition is ModelDefinition<object, 'account'> {
  return definition.tracked !== undefined;
}

/** The name of a model's collection. */
export function collectionOf({ schema }: Pick<ModelDefinition, 'schema'>): string {
  return String(schema.get('collection'));
}

export type AnyModel = Model<unknown>;
