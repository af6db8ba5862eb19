import type { Model, Schema } from 'mongoose';

/**
 * A collection as a plugin declares it.
 *
 * `owner: 'account'` is user data: every document carries `userId`, every index of a plugin leads
 * with it, and a query without it throws. Anything else says why it is shared.
 */
export interface ModelDefinition<T = unknown> {
  name: string;
  schema: Schema;
  owner: 'account' | { shared: string };
  /** Never there: it carries the documents' type to those who ask for the model. */
  document?: T;
}

/** Declares a model. Its schema names its collection, so that both are found in one place. */
export function defineModel<T>(definition: Omit<ModelDefinition, 'document'>): ModelDefinition<T> {
  return definition;
}

/** Any model, where what it holds does not matter. */
export type AnyModel = Model<unknown>;
