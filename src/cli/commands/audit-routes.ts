import type { Command } from 'commander';

import { type Collection, type Endpoint, type Surface, surfaceOf } from '../../app/surface';
import { operationName, requiredScopes } from '../../plugins/operation-facts';
import type { CommandRunner } from '../command-line';
import { table } from '../table';

export function listRoutes(parent: Command, commandLine: CommandRunner): void {
  parent
    .command('routes')
    .summary('list all operations, who may call them, and their data')
    .description(
      `Lists every endpoint, public ones first, with its access, rate limit budget, quota, tool and plugin. Then lists the middleware of operations, the plugins whose data they may access, and all collections with their indexes. Needs no server.`,
    )
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- audit routes
  $ npm run --silent cli -- audit routes --json

With --json, prints an object with the arrays endpoints, reach and collections, which include
reasons, JSON Schemas and the collections of each operation.`,
    )
    .action(() => {
      commandLine.runOffline((app) => {
        const surface = surfaceOf(app);
        const tables = surfaceTables(surface).map(
          ({ title, headings, rows }) => `${title}\n\n${table(headings, rows, ' ')}`,
        );
        return { result: surface, text: tables.join('\n\n') };
      });
    });
}

const NONE = '-';

/** A table of text; a cell with several values has one line for each. */
export interface Table {
  title: string;
  headings: string[];
  rows: string[][];
}

/** Returns the surface as tables that fit into 120 columns. */
export function surfaceTables({ endpoints, reach, collections }: Surface): Table[] {
  const chains = [...new Set(endpoints.flatMap(stepsOf))];
  return [
    {
      title: 'Operations',
      headings: ['operation', 'of', 'access', 'budget', 'quota', '#', 'tool', 'plugin'],
      rows: endpoints.map((each) => endpointCells(each, chains)),
    },
    {
      title: 'Steps of a request',
      headings: ['#', 'steps'],
      rows: chains.map((chain, index) => [String(index + 1), inLines(chain.split(' '), 112)]),
    },
    {
      title: 'Plugins that a call may access',
      headings: ['plugin', 'by reads', 'by writes also'],
      rows: reach.map(({ plugin, reads, writes }) => [
        plugin,
        inLines(reads),
        inLines(writes.filter((name) => !reads.includes(name))) || NONE,
      ]),
    },
    {
      title: 'Collections',
      headings: ['collection', 'plugin', 'owner', 'index', 'options'],
      rows: collections.flatMap(({ name, plugin, owner, sharding, indexes }) => {
        const cells = [name, plugin, ownerCell(owner, sharding)];
        const all = indexes.length === 0 ? [{ fields: {}, options: {} }] : indexes;
        return all.map(({ fields, options }) => [
          ...cells,
          members(fields),
          members(options).replace(', ', '\n').replace(' exists', '\nexists'),
        ]);
      }),
    },
  ];
}

/** Accounts own what is sharded by `userId`; other data is sharded by a field, or whole. */
function ownerCell(owner: Collection['owner'], sharding: Collection['sharding']): string {
  if (owner === 'account') return owner;
  return 'shardKey' in sharding ? sharding.shardKey : 'shared';
}

/** Names in lines of limited length. */
function inLines(names: readonly string[], length = 48): string {
  return names
    .join(' ')
    .replace(new RegExp(`(.{1,${length}})(?: |$)`, 'g'), '$1\n')
    .trimEnd();
}

function stepsOf({ operation }: Endpoint): string[] {
  return operation ? [operation.steps.join(' ')] : [];
}

/** A path that would make the table too wide. */
const LONG_PATH = /^(?=.{47})(.{1,46})(?=\/)/;

function endpointCells(endpoint: Endpoint, chains: readonly string[]): string[] {
  const { operation } = endpoint;
  const [chain] = stepsOf(endpoint);
  return [
    operationName(endpoint).replace(LONG_PATH, '$1\n'),
    operation?.of ?? NONE,
    [accessCell(endpoint), ...(operation?.feature?.tiers ?? [])].join(' '),
    operation?.limit ?? NONE,
    operation?.quota?.replaceAll(' ', '\n') ?? NONE,
    chain === undefined ? NONE : String(chains.indexOf(chain) + 1),
    operation && 'name' in operation.tool ? operation.tool.name : NONE,
    endpoint.plugin,
  ];
}

function accessCell({ access }: Endpoint): string {
  if ('scope' in access) {
    const asMember = access.asMember === undefined ? [] : ['as member:', access.asMember];
    return [...requiredScopes({ access }), ...asMember].join('\n');
  }
  return 'public' in access ? 'public' : 'any token';
}

/** Shorter names, so that a row fits on a line. */
const SHORT: Readonly<Record<string, string>> = { partialFilterExpression: 'where' };

/** Formats a record such as `hash, createdAt -1`; the values 1 and true are left out. */
function members(record: Readonly<Record<string, unknown>>): string {
  const cells = Object.entries(record).map(([name, value]) =>
    value === 1 || value === true ? name : `${SHORT[name] ?? name} ${textOf(value)}`,
  );
  return cells.join(', ') || NONE;
}

/** Formats a value: `exists true` for `{ $exists: true }`. */
function textOf(value: unknown): string {
  return JSON.stringify(value)
    .replace(/["{}$]/g, '')
    .replaceAll(':', ' ');
}
