/** The parts of a property of an input schema that cases are derived from. */
export interface Property {
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  items?: Property;
}

const WRONG_TYPES = [null, true, 0, 1.5, 'seven', '7', [], {}, [null], { id: 1 }];

const UUID = '01920000-0000-7000-8000-0123456789ab';

const IDS = [
  UUID,
  UUID.toUpperCase(),
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '',
  `urn:uuid:${UUID}`,
  `{${UUID}}`,
  UUID.replaceAll('-', ''),
  `${UUID}0`,
  ` ${UUID}`,
  `${UUID}\n`,
  UUID.replace('b', 'g'),
];

const MOMENTS = [
  '2026-03-01T09:30:00Z',
  '2026-03-01t09:30:00z',
  '2026-03-01T09:30:00.123456789Z',
  '2026-03-01T09:30:00+05:30',
  '2026-03-01T23:59:59-23:59',
  '2024-02-29T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '2023-02-29T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-03-01',
  '2026-03-01T09:30:00',
  '2026-03-01T09:30Z',
  '2026-03-01 09:30:00Z',
  '2026-03-01T09:30:00+0530',
  '2026-03-01T09:30:00+05',
  '2026-03-01T09:30:00.Z',
  '2026-03-01T09:30:00,5Z',
  '2026-03-01T24:00:00Z',
  '2026-03-01T09:60:00Z',
  '2026-03-01T23:59:60Z',
  '+012026-03-01T09:30:00Z',
  'yesterday',
  '',
];

const URLS = [
  'https://images.example.com/a/b.jpg?w=1#top',
  'http://127.0.0.1:8080/',
  'https://[::1]/x',
  'ftp://images.example.com/a.jpg',
  'images.example.com/a.jpg',
  '/a.jpg',
  'https://',
  'https:///a.jpg',
  'https:images.example.com',
  'https://images.example.com/a b.jpg',
  'https://images.example.com/ü.jpg',
  'javascript:alert(1)',
  '',
];

/** Values for a property: at and beyond its limits, with valid and invalid formats, of wrong types. */
export function valuesFor(property: Property): unknown[] {
  return [...WRONG_TYPES, ...valuesOfType(property)];
}

function valuesOfType(property: Property): unknown[] {
  const { format, enum: values, items } = property;
  const types = [property.type].flat();
  if (values) return [...values, 'none', 'LOW', ' low', ''];
  if (format === 'uuid') return IDS;
  if (format === 'date-time') return MOMENTS;
  if (format === 'uri') return URLS;
  if (items) return listsOf(items);
  if (types.includes('boolean')) return [true, false, 'true', 1];
  if (types.includes('integer') || types.includes('number')) return numbers(property);
  return texts(property);
}

function listsOf(items: Property): unknown[] {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => UUID.slice(0, -2) + String(index + 10));
  return [
    ...valuesOfType(items).map((value) => [value]),
    [UUID, UUID],
    many(2),
    many(20),
    many(21),
    [UUID, null],
    [[UUID]],
    UUID,
  ];
}

function numbers({ minimum, maximum }: Property): unknown[] {
  const edges = [minimum, maximum].filter((edge) => edge !== undefined);
  return [
    ...edges.flatMap((edge) => [edge - 1, edge, edge + 1]),
    -1,
    0,
    1,
    1e-9,
    2.5,
    1e15,
    2 ** 53,
    1e300,
    '1',
  ];
}

function texts({ maxLength }: Property): unknown[] {
  const longest = maxLength === undefined ? [] : ['x'.repeat(maxLength), 'x'.repeat(maxLength + 1)];
  return ['', ' ', 'A fern', 'Fougère – 蕨', 'null', ...longest];
}
