import type { Connection } from 'mongoose';

import { isRecord } from '../../src/core/values';
import { collectionOf, type ModelDefinition } from '../../src/data/model/models';
import { EVERY_SHARD } from './every-shard';

/** Methods that send no query. */
const OTHERS = new Set(['createIndex', 'createIndexes', 'dropIndex', 'indexes', 'listIndexes']);

/** Checks that all queries of a program name the shard key of their collection. */
export class ShardKeys {
  /** What asked all shards, once each. */
  readonly faults = new Set<string>();
  readonly #keys: ReadonlyMap<string, string>;

  constructor(models: readonly Pick<ModelDefinition, 'schema' | 'sharding'>[]) {
    const sharded = models.flatMap((model) =>
      'shardKey' in model.sharding ? [[collectionOf(model), model.sharding.shardKey] as const] : [],
    );
    this.#keys = new Map(sharded);
  }

  /** Checks all queries of the models of a connection from now on. */
  watch(connection: Connection): void {
    connection.set('debug', (collection: string, method: string, ...args: unknown[]) => {
      this.#check(collection, method, args);
    });
    // What a test itself asks is not checked.
    Object.assign(connection, {
      collection: (name: string) => connection.getClient().db(connection.name).collection(name),
    });
  }

  #check(collection: string, method: string, args: readonly unknown[]): void {
    const key = this.#keys.get(collection);
    if (key === undefined || OTHERS.has(method)) return;
    for (const filter of filtersOf(method, args)) {
      if (namesShard(filter, key)) continue;
      const fault = `${collection}.${method} ${Object.keys(filter).sort().join(', ')}`.trim();
      if (!(fault in EVERY_SHARD)) this.faults.add(fault);
    }
  }
}

/** The filters of a call of the driver, and the documents that it inserts. */
function filtersOf(method: string, [first, second]: readonly unknown[]): Record<string, unknown>[] {
  if (method === 'aggregate')
    return listOf(first)
      .slice(0, 1)
      .map((stage) => recordOf(stage['$match']));
  if (method === 'distinct') return [recordOf(second)];
  if (method === 'bulkWrite') {
    return listOf(first).flatMap((write) =>
      Object.values(write).map((body) =>
        recordOf(recordOf(body)['filter'] ?? recordOf(body)['document']),
      ),
    );
  }
  // The others begin with a filter, a document, or a list of them; those without one ask all shards.
  return Array.isArray(first) ? listOf(first) : [recordOf(first)];
}

/** Whether a filter names the value of the shard key, or several. */
export function namesShard(filter: Record<string, unknown>, key: string): boolean {
  const condition = filter[key];
  if (typeof condition === 'string' || Array.isArray(recordOf(condition)['$in'])) return true;
  return listOf(filter['$and']).some((part) => namesShard(part, key));
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
