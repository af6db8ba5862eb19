import type { Model, Schema } from 'mongoose';

import { owned, type OwnedModel } from './owner';
import { counted } from './quotas';
import { tracked } from './tracking';
import { grouped } from '../writing/write-buffer';

export { LIVE, type Tenant } from './tenant';

/** Data that is not an account's, and why. */
interface Shared {
  shared: string;
}

/** The Mongoose model of an owner's documents. */
export type ModelOf<T, Owner> = Owner extends 'account' ? OwnedModel<T> : Model<T>;

/** What else there is to say of a model of user data. */
interface AccountModelOptions {
  /** What `GET /api/changes` calls such a record, where it lists them (see `tracked`). */
  tracked?: string;
  /** Whether deleted records stay, with `deletedAt` set: they are listed apart. */
  softlyDeleted?: boolean;
  /** The quota that each of its records takes one of (see `counted`). */
  quota?: string;
  /** The field that frees the place of a record while it has a value. */
  freedBy?: string;
}

/**
 * A collection as a plugin declares it.
 *
 * `owner: 'account'` is user data: every document carries `userId`, every index of a plugin leads
 * with it, and a query without it throws. Anything else says why it is shared.
 */
export interface ModelDefinition<
  T = unknown,
  Owner = 'account' | Shared,
> extends AccountModelOptions {
  name: string;
  schema: Schema;
  owner: Owner;
  /** Never there: it carries the documents' type to those who ask for the model. */
  document?: T;
}

/** Declares a model of user data. Its schema names its collection, so that both are found in one place. */
export function accountModel<T>(
  name: string,
  schema: Schema,
  options: AccountModelOptions = {},
): ModelDefinition<T, 'account'> {
  const { tracked: kind, softlyDeleted = false, quota, freedBy } = options;
  if (kind !== undefined) schema.plugin(tracked, { kind, softlyDeleted });
  if (quota !== undefined) schema.plugin(counted, { quota, freedBy });
  return { name, schema: exact(schema).plugin(owned), owner: 'account', ...options };
}

/** Declares a model of data that no account owns, and says why. */
export function sharedModel<T>(
  name: string,
  shared: string,
  schema: Schema,
): ModelDefinition<T, Shared> {
  return { name, schema: exact(schema), owner: { shared } };
}

/** Has documents stored as they are given; a path that the schema does not have throws. */
function exact(schema: Schema): Schema {
  return schema
    .set('versionKey', false)
    .set('minimize', false)
    .set('strict', 'throw')
    .set('strictQuery', 'throw')
    .plugin(grouped);
}

/** Whether changes of a model's records are tracked. */
export function isTracked(
  definition: ModelDefinition,
): definition is ModelDefinition<object, 'account'> {
  return definition.tracked !== undefined;
}

/** The collection of a model, as its schema names it. */
export function collectionOf({ schema }: Pick<ModelDefinition, 'schema'>): string {
  return String(schema.get('collection'));
}

/** Any model, where what it holds does not matter. */
export type AnyModel = Model<unknown>;
