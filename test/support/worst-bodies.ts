import type Joi from 'joi';

import { descriptionOf } from '../../src/fields/description';

type Labelled = readonly [label: string, text: string];
/** A text of about some bytes, and what it is. */
type Sized = readonly [label: string, text: (bytes: number) => string];

const repeated = (part: string, bytes: number): string =>
  part.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(part))));
const joined = (part: string, bytes: number): string => repeated(`${part},`, bytes - 1) + part;
const numbered = (part: (index: number) => string, bytes: number): string =>
  Array.from({ length: Math.floor(bytes / (part(100_000).length + 1)) }, (_, at) =>
    part(at),
  ).join();
const nested = (open: string, close: string, bytes: number): string => {
  const depth = Math.floor(bytes / (open.length + close.length));
  return open.repeat(depth) + close.repeat(depth);
};

/** Texts for which a pattern, a normal form or a search might take long. */
export const WORST_TEXTS: readonly Sized[] = [
  ...['a', ' ', '-', '.', '%', "'", 'a/', '🌿', 'ﷺ'].map((part): Sized => [
    `many ${part}`,
    (bytes) => repeated(part, bytes),
  ]),
  // Normal forms order them by class.
  ['marks of two classes', (bytes) => `a${repeated('\u0301\u0323', bytes)}`],
  ['a long address', (bytes) => `https://a.example/${repeated('%20', bytes)} `],
  ['a long host', (bytes) => `https://${repeated('a.', bytes)} `],
  ['a long moment', (bytes) => `2026-03-01T09:30:00.${repeated('0', bytes)}Z `],
];

/** JSON values that are much to read, or to refuse. */
const WORST_VALUES: readonly Sized[] = [
  ...WORST_TEXTS.map(([label, text]): Sized => [label, (bytes) => JSON.stringify(text(bytes))]),
  ...['0', '""', '[]', '{}', '{"a":0}'].map((item): Sized => [
    `a list of ${item}`,
    (bytes) => `[${joined(item, bytes)}]`,
  ]),
  ['a list of texts', (bytes) => `[${numbered((at) => `"${at}"`, bytes)}]`],
  ['many members', (bytes) => `{${numbered((at) => `"k${at}":0`, bytes)}}`],
  ['a long name of a member', (bytes) => `{"${repeated('k', bytes)}":0}`],
  ['lists of lists', (bytes) => nested('[', ']', bytes)],
  ['objects of objects', (bytes) => nested('{"a":', '}', bytes).replace(':}', ':0}')],
  ['a long number', (bytes) => repeated('9', bytes)],
];

const valuesOf = (bytes: number): Labelled[] =>
  WORST_VALUES.map(([label, text]) => [label, text(bytes)]);

/**
 * The worst bodies for a schema as JSON, each of about some bytes: instead of the whole, and instead of each
 * kind of value in it.
 *
 * @param valid the rest of the body
 */
export function worstBodies(
  schema: Joi.Schema | undefined,
  valid: Readonly<Record<string, unknown>>,
  bytes: number,
): Labelled[] {
  const fields = schema ? [...descriptionOf(schema).keys] : [];
  const seen = new Set<string>();
  const parts = fields.flatMap(([name, field]) =>
    worstValues(field, bytes, seen).map(([label, json]): Labelled => {
      const others = Object.entries(valid).filter(([other]) => other !== name);
      const members = [...others.map(([other, value]) => member(other, JSON.stringify(value)))];
      return [`${name}: ${label}`, `{${[...members, member(name, json)].join()}}`];
    }),
  );
  return [...valuesOf(bytes), ...parts];
}

const member = (name: string, json: string): string => `${JSON.stringify(name)}:${json}`;

/** @param seen kinds of values that need no second try */
function worstValues(given: Joi.Schema, bytes: number, seen: Set<string>): Labelled[] {
  const schema = descriptionOf(given).metas.find(({ shownAs }) => shownAs)?.shownAs ?? given;
  const { keys, items } = descriptionOf(schema);
  const kind = kindOf(schema);
  if (seen.has(kind)) return [];
  seen.add(kind);
  const inItems = items.flatMap((item) =>
    worstValues(item, bytes, seen).map(([label, json]): Labelled => [`[${label}]`, `[${json}]`]),
  );
  const inKeys = [...keys].flatMap(([name, field]) =>
    worstValues(field, bytes, seen).map(([label, json]): Labelled => [
      `${name}: ${label}`,
      `{${member(name, json)}}`,
    ]),
  );
  return [...valuesOf(bytes), ...inItems, ...inKeys];
}

/** Its type and the names of its rules, by which values are checked alike. */
function kindOf(schema: Joi.Schema): string {
  const { keys, items } = descriptionOf(schema);
  // Joi does not type the rules of a schema.
  const { _rules: rules } = schema as unknown as { _rules: { name: string }[] };
  const inner = [...keys.keys(), ...items.map(kindOf)];
  return [schema.type, ...rules.map(({ name }) => name), ...inner].join(' ');
}

/** Tables of about some bytes that are much to read. */
export function worstTables(bytes: number): Labelled[] {
  const cells = [',', ';', '\t', '|', 'name,', '"name",', '"a""b",', '"', '""'];
  const lines = ['\n', '\r', '\r\n', 'a\n', ',\n', '"\n', '""\n', '"a\n",'];
  const wide = ','.repeat(99);
  return [
    ...cells.map((part): Labelled => [`headings of ${part}`, repeated(part, bytes)]),
    ...[...cells, ...lines].flatMap((part): Labelled[] => [
      [`a row of ${JSON.stringify(part)}`, `name\n${repeated(part, bytes)}`],
      [`rows of ${JSON.stringify(part)}`, `name,notes\n${repeated(`a${part}\n`, bytes)}`],
    ]),
    ...WORST_TEXTS.flatMap(([label, text]): Labelled[] => [
      [`a heading of ${label}`, text(bytes)],
      [`a name of ${label}`, `name\n${text(bytes)}`],
      [`a date of ${label}`, `name,createdAt\na,${text(bytes)}`],
    ]),
    ['blank lines', `${repeated('\n', bytes)}name\nFern`],
    ['rows of 100 cells', `name${wide}\n${repeated(`a${wide}\n`, bytes)}`],
    ['rows of 100 headings', repeated(`name${wide}\n`, bytes)],
  ];
}
