import { auditModels } from '../data/audit/model';
import { deletionModel } from '../data/changes/deletions';
import { hostModels } from '../data/model/host-models';
import { idempotencyModels } from '../data/idempotency/idempotency';
import { collectionOf, type ModelDefinition } from '../data/model/models';
import { type JsonSchema, jsonSchemaOf } from '../fields/json-schema';
import type { Access, Feature, Operation } from '../plugins/operation';
import { readsGarden } from '../plugins/operation-facts';
import type { Plugin, SetUpPlugin } from '../plugins/plugin';

/** An operation, or a method of a protocol endpoint, as an auditor sees it. */
export interface Endpoint {
  method: string;
  path: string;
  summary: string;
  access: Access | { public: string };
  plugin: string;
  /** Collections that a call may access. Operations called through an endpoint list their own. */
  collections: string[];
  /** Undefined for a protocol endpoint, whose protocol defines requests and responses. */
  operation?: Pick<Operation, 'of' | 'limit' | 'idempotent' | 'tool'> & {
    quota: string | undefined;
    feature: Feature | undefined;
    /** The names of the middleware of the operation (src/middleware/chain.ts). */
    steps: string[];
    /** Path parameters are UUIDs, except for accounts. */
    request: { query: JsonSchema | undefined; body: JsonSchema | undefined };
    response: { status: number; schema: JsonSchema };
  };
}

/** The plugins whose data the operations of a plugin may access, itself included. */
interface Reach {
  plugin: string;
  reads: string[];
  writes: string[];
}

export interface Collection {
  name: string;
  /** `src` for collections of the host. */
  plugin: string;
  owner: ModelDefinition['owner'];
  sharding: ModelDefinition['sharding'];
  /** All except the index on `_id`, as Mongoose lists them. */
  indexes: { fields: Record<string, unknown>; options: Record<string, unknown> }[];
}

/** Everything that can be called from outside, and the data behind it. */
export interface Surface {
  /** Sorted by access: public, any token, scopes. */
  endpoints: Endpoint[];
  reach: Reach[];
  collections: Collection[];
}

/** The part of the app that the surface is computed from. */
interface Source {
  plugins: readonly SetUpPlugin[];
  stepsOf: (operation: Operation) => string[];
}

export function surfaceOf(source: Source): Surface {
  const { plugins } = source;
  const identity = plugins.filter(({ contribution }) => contribution.identity);
  const gardens = plugins.filter(({ contribution }) => contribution.gardens);
  const quotas = plugins.flatMap(({ plugin }) => Object.entries(plugin.quotas ?? {}));
  /** The quota of an operation follows from the quota error that it declares. */
  const quotaOf = ({ errors = [] }: Operation): string | undefined =>
    quotas.flatMap(([name, { error }]) => (errors.includes(error) ? name : [])).join(' ') ||
    undefined;
  const endpoints = plugins.flatMap((each) => [
    ...each.operations.map((operation) => ({
      ...factsOf(operation, quotaOf(operation), source.stepsOf(operation)),
      plugin: each.plugin.name,
      collections: namesOf([
        ...reachedModels(reachOf(each, plugins, operation.method !== 'GET')),
        ...identity.flatMap(modelsOf),
        ...(readsGarden(operation) ? gardens.flatMap(modelsOf) : []),
        ...(operation.readsAll === undefined ? [] : [...hostModels, ...plugins.flatMap(modelsOf)]),
        ...(operation.idempotent ? idempotencyModels : []),
        ...(operation.method === 'GET' ? [] : auditModels),
      ]),
    })),
    ...(each.contribution.protocols ?? []).flatMap(({ path, methods }) =>
      Object.entries(methods).map(([method, { summary, access }]) => ({
        method,
        path,
        summary,
        access,
        plugin: each.plugin.name,
        collections: namesOf('public' in access ? [] : identity.flatMap(modelsOf)),
      })),
    ),
  ]);
  return {
    endpoints: endpoints.sort((a, b) => openness(a.access) - openness(b.access)),
    reach: plugins
      .filter(({ operations }) => operations.length > 0)
      .map((each) => ({
        plugin: each.plugin.name,
        reads: reachOf(each, plugins, false).map(({ plugin }) => plugin.name),
        writes: reachOf(each, plugins, true).map(({ plugin }) => plugin.name),
      })),
    collections: [
      ...hostModels.map((model) => describe('src', model)),
      ...plugins.flatMap((each) =>
        modelsOf(each).map((model) => describe(each.plugin.name, model)),
      ),
    ],
  };
}

function factsOf(
  operation: Operation,
  quota: string | undefined,
  steps: string[],
): Omit<Endpoint, 'plugin' | 'collections'> {
  const { of, method, path, summary, access, limit, feature, idempotent, tool } = operation;
  const { query, body, response } = operation;
  const request = {
    query: query && jsonSchemaOf(query, 'input'),
    body: body && jsonSchemaOf(body, 'input'),
  };
  return {
    method,
    path,
    summary,
    access,
    operation: {
      of,
      limit,
      quota,
      feature,
      steps,
      idempotent,
      tool,
      request,
      response: { status: response.status, schema: jsonSchemaOf(response.schema, 'output') },
    },
  };
}

/**
 * Returns the plugins that calls of a plugin may reach, directly or indirectly: itself, plugins that it
 * requires or collects from and, for writes, plugins that listen to its domain events.
 */
function reachOf(from: SetUpPlugin, all: readonly SetUpPlugin[], isWrite: boolean): SetUpPlugin[] {
  const reached = new Set([from]);
  // The iteration includes plugins that are added on the way.
  for (const { plugin } of reached) {
    for (const other of all) {
      if (
        plugin.requires.includes(other.plugin.name) ||
        (plugin.collects && other.contribution.changes) ||
        (isWrite && listensTo(other, plugin))
      ) {
        reached.add(other);
      }
    }
  }
  return [...reached];
}

function listensTo({ contribution }: SetUpPlugin, { emits = [] }: Plugin): boolean {
  return (contribution.listeners ?? []).some(({ event }) => emits.includes(event));
}

function modelsOf({ plugin }: SetUpPlugin): readonly ModelDefinition[] {
  return plugin.models ?? [];
}

/** Returns the models of plugins, and that of deletions if one of them is tracked. */
function reachedModels(plugins: readonly SetUpPlugin[]): readonly ModelDefinition[] {
  const models = plugins.flatMap(modelsOf);
  const isTracked = models.some((model) => model.tracked !== undefined);
  return isTracked ? [...models, deletionModel] : models;
}

function namesOf(models: readonly ModelDefinition[]): string[] {
  return [...new Set(models.map(collectionOf))].sort();
}

function describe(plugin: string, model: ModelDefinition): Collection {
  const indexes = model.schema.indexes().map(([fields, { ...options }]) => {
    // Mongoose adds this option to every index; MongoDB ignores it.
    delete options.background;
    return { fields, options };
  });
  const { owner, sharding } = model;
  return { name: collectionOf(model), plugin, owner, sharding, indexes };
}

function openness(access: Endpoint['access']): number {
  if ('public' in access) return 0;
  return 'anyToken' in access ? 1 : 2;
}
