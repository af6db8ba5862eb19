import type { ClientSession, Model, Schema } from 'mongoose';

/** Whose user data a query is about and, within a transaction, at which moment. */
export interface Tenant {
  readonly userId: string;
  readonly session?: ClientSession;
  /** Within a write: the account's revision once it is committed. */
  readonly revision?: number;
}

/** What a query on data that no account owns takes in place of a tenant. */
export interface SharedTenant {
  readonly session?: ClientSession;
  readonly revision?: number;
}

/** Finds records that are not deleted softly. */
export const LIVE = { deletedAt: null };

/** Data that is not an account's, and why. */
interface Shared {
  shared: string;
}

/** What queries on the records of an owner take. */
export type TenantOf<Owner> = Owner extends 'account' ? Tenant : SharedTenant;

/**
 * A collection as a plugin declares it.
 *
 * `owner: 'account'` is user data: every document carries `userId`, every index of a plugin leads
 * with it, and a query without it throws. Anything else says why it is shared.
 */
export interface ModelDefinition<T = unknown, Owner = 'account' | Shared> {
  name: string;
  schema: Schema;
  owner: Owner;
  /** What `GET /api/changes` calls such a record, where it lists them (see `tracked`). */
  tracked?: string;
  /** Whether records that are deleted may stay, with `deletedAt` set. */
  softlyDeleted?: boolean;
  /** The quota that each of its records takes one of (see `counted`). */
  quota?: { name: string; freedBy: string | null };
  /** Never there: it carries the documents' type to those who ask for the records. */
  document?: T;
}

/** Declares a model of user data. Its schema names its collection, so that both are found in one place. */
export function accountModel<T>(name: string, schema: Schema): ModelDefinition<T, 'account'> {
  return { name, schema, owner: 'account' };
}

/** Declares a model of data that no account owns, and says why. */
export function sharedModel<T>(
  name: string,
  shared: string,
  schema: Schema,
): ModelDefinition<T, Shared> {
  return { name, schema, owner: { shared } };
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
