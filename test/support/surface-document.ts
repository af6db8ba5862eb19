import type { Surface } from '../../src/app/surface';
import { surfaceTables, type Table } from '../../src/cli/surface-tables';

const INTRODUCTION = `# The surface

All that can be called from outside, the public first. \`make docs\` renews this file from the code;
\`make audit\` shows the same on a terminal, \`audit routes --json\` with reasons and whole schemas.

- access: a scope, any token, or public; budget: the rate limit; key: takes an Idempotency-Key
- in, out: digests of what it takes and gives beyond path parameters, which are UUIDs; texts that
  only describe do not count
- each call with a token also reads the plugin that knows who calls; one with a key also src
`;

/** The text of docs/surface.md. */
export function surfaceDocument(surface: Surface): string {
  return [INTRODUCTION, ...surfaceTables(surface).map(markdown)].join('\n');
}

function markdown({ title, headings, rows }: Table): string {
  const lines = [headings, headings.map(() => '---'), ...rows];
  return `## ${title}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')}`;
}

/** The tables of such a text. */
function tablesOf(document: string): Table[] {
  return document
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title = '', ...lines] = section.split('\n');
      const [headings = [], , ...rows] = lines
        .filter((line) => line.startsWith('|'))
        .map((line) => line.slice(2, -2).split(' | '));
      return { title, headings, rows };
    });
}

/** What was opened, closed or changed between two such texts: a line for each. */
export function compareSurfaces(committed: string, current: string): string[] {
  const [operations, ...others] = tablesOf(current);
  const [before, ...othersBefore] = tablesOf(committed);
  const rows = (table?: Table): string[] =>
    table?.rows.map((row) => `in ${table.title}: ${row.join(', ')}`) ?? [];
  const now = others.flatMap(rows);
  const then = othersBefore.flatMap(rows);
  return [
    ...compareOperations(rowsByName(before), rowsByName(operations)),
    ...now.filter((row) => !then.includes(row)).map((row) => `added ${row}`),
    ...then.filter((row) => !now.includes(row)).map((row) => `removed ${row}`),
  ];
}

type Row = Readonly<Record<string, string>>;

function rowsByName(table?: Table): Map<string, Row> {
  const { headings = [], rows = [] } = table ?? {};
  return new Map(
    rows.map((cells) => [
      cells[0] ?? '',
      Object.fromEntries(headings.map((heading, column) => [heading, cells[column] ?? ''])),
    ]),
  );
}

function compareOperations(
  before: ReadonlyMap<string, Row>,
  current: ReadonlyMap<string, Row>,
): string[] {
  const removed = [...before]
    .filter(([name]) => !current.has(name))
    .map(([name, row]) => `removed: ${name} (was ${row['access'] ?? ''})`);
  const others = [...current].flatMap(([name, row]) => {
    const was = before.get(name);
    return was ? changes(name, was, row) : [`added: ${name}, ${callers(row['access'] ?? '')}`];
  });
  return [...others, ...removed];
}

function callers(access: string): string {
  if (access === 'public') return 'everybody';
  return access === 'any token' ? 'anyone with a token' : `anyone with ${access}`;
}

function changes(name: string, before: Row, current: Row): string[] {
  const differ = Object.keys(current).filter((heading) => before[heading] !== current[heading]);
  const sides = { in: 'request', out: 'response' };
  const schemas = Object.entries(sides).filter(([heading]) => differ.includes(heading));
  return [
    ...differ
      .filter((heading) => !(heading in sides))
      .map((heading) => change(name, heading, before[heading] ?? '', current[heading] ?? '')),
    ...(schemas.length === 0
      ? []
      : [`takes or gives something else: ${name} (${schemas.map(([, side]) => side).join(', ')})`]),
  ];
}

function change(name: string, heading: string, was: string, is: string): string {
  if (heading !== 'access') return `${heading} changed: ${name} (${was} is now ${is})`;
  if (is === 'public') return `opened to the public: ${name} (was ${was})`;
  if (was === 'public') return `closed to the public: ${name} (now ${is})`;
  if (is === 'any token') return `opened to any token: ${name} (was ${was})`;
  if (was === 'any token') return `closed to tokens without ${is}: ${name}`;
  return `scope changed: ${name} (${was} is now ${is})`;
}
