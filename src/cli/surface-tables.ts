import { createHash } from 'node:crypto';

import type { Endpoint, Surface } from '../app/surface';
import { isRecord, sortMembers } from '../core/values';
import { operationName } from '../plugins/operation-facts';

const NONE = '-';

/** Rows of text under their headings; the first cells of a row name it. */
export interface Table {
  title: string;
  headings: string[];
  rows: string[][];
}

/** The surface in tables that fit into 120 columns. */
export function surfaceTables({ endpoints, reach, collections }: Surface): Table[] {
  return [
    {
      title: 'Operations',
      headings: [
        ...['operation', 'access', 'budget', 'quota', 'tier', 'key', 'tool', 'in', 'out'],
        'plugin',
      ],
      rows: endpoints.map(endpointCells),
    },
    {
      title: 'Plugins that a call may reach',
      headings: ['of', 'by reads', 'by writes also'],
      rows: reach.map(({ plugin, reads, writes }) => [
        plugin,
        reads.join(' '),
        writes.filter((name) => !reads.includes(name)).join(' ') || NONE,
      ]),
    },
    {
      title: 'Collections',
      headings: ['collection', 'plugin', 'owner', 'index', 'options'],
      rows: collections.flatMap(({ name, plugin, owner, indexes }) => {
        const cells = [name, plugin, owner === 'account' ? owner : 'shared'];
        const all = indexes.length === 0 ? [{ fields: {}, options: {} }] : indexes;
        return all.map(({ fields, options }) => [...cells, members(fields), members(options)]);
      }),
    },
  ];
}

function endpointCells(endpoint: Endpoint): string[] {
  const { operation } = endpoint;
  return [
    operationName(endpoint),
    accessCell(endpoint),
    typeof operation?.limit === 'string' ? operation.limit : NONE,
    operation?.quota ?? NONE,
    operation?.feature?.tiers.join(' ') ?? NONE,
    operation?.idempotent ? 'yes' : NONE,
    operation && 'name' in operation.tool ? operation.tool.name : NONE,
    digest(operation?.request),
    digest(operation?.response),
    endpoint.plugin,
  ];
}

function accessCell({ access }: Endpoint): string {
  if ('scope' in access) return access.scope;
  return 'public' in access ? 'public' : 'any token';
}

/** Four characters, 24 bits, that change with what is taken or given. */
function digest(value: object = {}): string {
  const text = JSON.stringify(value, essential);
  if (text === '{}') return NONE;
  return createHash('sha256').update(text).digest('base64url').slice(0, 4);
}

/** Leaves out what lets nothing else through: descriptions, and the order of members and lists. */
function essential(key: string, value: unknown): unknown {
  if (key === 'description' && typeof value === 'string') return undefined;
  if (Array.isArray(value)) return value.toSorted();
  return isRecord(value) ? sortMembers(value) : value;
}

/** Shorter names, so that a row is a line. */
const SHORT: Readonly<Record<string, string>> = { partialFilterExpression: 'where' };

/** `hash, createdAt -1`, `unique`: what is merely so by its name alone, the rest with its value. */
function members(record: Readonly<Record<string, unknown>>): string {
  const cells = Object.entries(record).map(([name, value]) =>
    value === 1 || value === true ? name : `${SHORT[name] ?? name} ${JSON.stringify(value)}`,
  );
  return cells.join(', ') || NONE;
}
