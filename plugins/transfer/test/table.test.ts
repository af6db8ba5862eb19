import type { TestService, TestUser } from '../../../test/support/service';
import { expectError, listOf } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user({ timezone: 'Pacific/Auckland' });
});
afterAll(() => service.close());

const bring = (body: object) => user.post('/api/import', body);
const bringText = (csv: string, type = 'text/csv') =>
  service.anonymous
    .post('/api/import')
    .auth(user.token, { type: 'bearer' })
    .type(type)
    .serialize((given) => given as never)
    .send(csv as never);
const plantsOf = async () => listOf(await user.get('/api/plants').expect(200));
const namesOf = async () => (await plantsOf()).map(({ name }) => name).sort();

/** The faults in a response, by line. */
function faults(response: { body: unknown }): unknown[] {
  const { details = [] } = response.body as { details?: { field: string; line?: number }[] };
  return details.map(({ field, line }) => [line, field]);
}

test('a table of another tracker is imported by its own headings', async () => {
  const csv =
    '\ufeffPlant;Art;Standort;Gießen (Tage);Gekauft;Notizen;Bild\r\n' +
    '"Monstera ""Thai""";Monstera × deliciosa;Büro;7;24.12.2025;"Erste Zeile\r\nzweite; mit Semikolon";x\r\n' +
    '\r\n' +
    'Farn 🌿;;Bad;;01.02.2026;;\r\n';
  const columns = {
    name: 'Plant',
    species: 'Art',
    location: 'Standort',
    createdAt: 'Gekauft',
    wateringFrequencyDays: 'Gießen (Tage)',
    notes: 'Notizen',
  };
  const answer = await bring({ csv, columns, delimiter: ';', dates: 'dd.mm.yyyy' }).expect(201);
  expect(answer.body).toEqual({ plants: 2, events: 0 });
  expect(await plantsOf()).toMatchObject([
    {
      name: 'Monstera "Thai"',
      species: 'Monstera × deliciosa',
      location: 'Büro',
      wateringFrequencyDays: 7,
      notes: 'Erste Zeile\r\nzweite; mit Semikolon',
      // The start of the day in Auckland.
      createdAt: '2025-12-23T11:00:00.000Z',
    },
    { name: 'Farn 🌿', species: null, createdAt: '2026-01-31T11:00:00.000Z' },
  ]);
});

test('text/csv has field names in its first line', async () => {
  await bringText(
    'name,wateringFrequencyDays,toxic,createdAt\nFern,3,TRUE,2026-01-05\nOak,,,\n',
  ).expect(201);
  const [fern, oak] = await plantsOf();
  expect(fern).toMatchObject({ name: 'Fern', wateringFrequencyDays: 3, toxic: true });
  expect(oak).toMatchObject({ name: 'Oak', wateringFrequencyDays: null, toxic: false });
});

test.each([';', '\t', ','])('the delimiter %j is detected in the first line', async (delimiter) => {
  await bringText(`name${delimiter}species\n"A, b; c"${delimiter}D\n`).expect(201);
  expect(await plantsOf()).toMatchObject([{ name: 'A, b; c', species: 'D' }]);
});

test('each fault has the line on which its plant begins', async () => {
  const csv =
    'name,wateringFrequencyDays,potType,toxic,createdAt,notes\n' +
    'Fern,3.5,,,,\n' +
    '"Two\nlines",7,,,,\n' +
    '\n' +
    ',0,bucket,maybe,yesterday,\n' +
    'Oak,"7,5",,,2026-02-30,\n';
  const answer = await bringText(csv);
  expectError(
    answer,
    400,
    'validation_error',
    /^Line 2: wateringFrequencyDays must be an integer \(and 7 more faults\)\.$/,
  );
  expect(faults(answer)).toEqual([
    [2, 'wateringFrequencyDays'],
    [6, 'name'],
    [6, 'wateringFrequencyDays'],
    [6, 'potType'],
    [6, 'toxic'],
    [6, 'createdAt'],
    [7, 'wateringFrequencyDays'],
    [7, 'createdAt'],
  ]);
  expect(await plantsOf()).toEqual([]);
});

test.each([
  ['in a quoted heading', '"Plant, or its name";Days\nFern;3\n', 'Plant, or its name'],
  ['before the first heading', '\n\nPlant;Days\nFern;3\n', 'Plant'],
])('the delimiter is detected despite a delimiter or blank line %s', async (_, csv, name) => {
  await bring({ csv, columns: { name, wateringFrequencyDays: 'Days' } }).expect(201);
  expect(await plantsOf()).toMatchObject([{ name: 'Fern', wateringFrequencyDays: 3 }]);
});

test('a column can be for two fields, but a field cannot have two columns', async () => {
  const csv = 'Plant;Plant again\nFern;Oak\n';
  await bring({ csv, columns: { name: 'Plant', species: 'Plant' } }).expect(201);
  expect(await plantsOf()).toMatchObject([{ name: 'Fern', species: 'Fern' }]);
  const twice = await bring({ csv: 'Plant;Plant\nFern;Oak\n', columns: { name: 'Plant' } });
  expectError(twice, 400, 'validation_error', /^Line 1: name has two columns/);
  expect(faults(await bringText('name,notes,name\nFern,,Oak\n'))).toEqual([[1, 'name']]);
});

test.each([
  ['a heading that is no field', 'name,colour\nFern,green\n', [[1, 'colour']]],
  ['no column of names', 'species\nFilix\n', [[1, 'name']]],
  ['a quote that is not closed', 'name\nOak\n"Fern\nElm\n', [[4, 'csv']]],
  ['text behind a quote', 'name,notes\n"Fern"x,y\n', [[2, 'csv']]],
  ['more cells than headings', 'name\nFern,green\n', [[2, 'csv']]],
  ['NUL', 'name\nFe\0rn\n', [[2, 'name']]],
  ['more than 500 plants', `name\n${'Fern\n'.repeat(501)}`, [[502, 'csv']]],
])('%s is a fault', async (_, csv, expected) => {
  const answer = await bringText(csv);
  expectError(answer, 400, 'validation_error');
  expect(faults(answer)).toEqual(expected);
});

describe('a table of more than 100 columns is refused,', () => {
  const wide = (cell: string, delimiter: string): string => `${cell}${delimiter}`.repeat(101);

  test.each([',', ';', '\t', '|'])('with the delimiter %j', async (delimiter) => {
    for (const cell of ['', 'name', '"name"', '"na""me"']) {
      for (const end of ['\n', '\r', '\r\n', '']) {
        const headings = wide(cell, delimiter) + end;
        const row = `name${end}${wide(cell, delimiter)}${end}`;
        for (const csv of end === '' ? [headings] : [headings, row]) {
          const answer = await bring({ csv, delimiter });
          expectError(answer, 400, 'validation_error', /csv must have at most 100 columns\.$/);
          expect(faults(answer)).toEqual([[csv === row ? 2 : 1, 'csv']]);
        }
      }
    }
  });

  test('but not one of 100', async () => {
    const columns = Array.from({ length: 99 }, (_, at) => `"Column, ${at}"`).join(';');
    const csv = `Plant;${columns}\nFern;${'"a;""b"";c";'.repeat(98)}"d"\n`;
    await bring({ csv, columns: { name: 'Plant', notes: 'Column, 98' } }).expect(201);
    expect(await plantsOf()).toMatchObject([{ name: 'Fern', notes: 'd' }]);
  });
});

test('a mapping to a missing column is a fault, and so is an invalid date format', async () => {
  const csv = 'Plant,Bought\nFern,3/14/2026\nOak,14.3.2026\n';
  const wrong = await bring({ csv, columns: { name: 'Pflanze' } });
  expect(faults(wrong)).toEqual([[1, 'columns.name']]);
  const columns = { name: 'Plant', createdAt: 'Bought' };
  expect(faults(await bring({ csv, columns, dates: 'tt.mm.jjjj' }))).toEqual([
    [undefined, 'dates'],
  ]);
  const other = await bring({ csv, columns, dates: 'MM/DD/YYYY' });
  expect(other.body).toMatchObject({
    details: [
      { field: 'createdAt', line: 3, message: 'createdAt must be a date in the form MM/DD/YYYY.' },
    ],
  });
});

test('fields of a table are refused together with plants', async () => {
  expectError(
    await bring({ plants: [], columns: { name: 'Plant' } }),
    400,
    'validation_error',
    /^columns is allowed only with csv/,
  );
  expectError(
    await bring({ csv: 'name\nFern\n', plants: [] }),
    400,
    'validation_error',
    /^csv must not/,
  );
  expectError(await bring({}), 400, 'validation_error', /^plants or csv is required/);
});

test('quotes that guard against formulas are removed', async () => {
  await bringText("name,notes\n'=1+1,'plain\n''@x,-5 °C\n").expect(201);
  expect(await namesOf()).toEqual(["'@x", '=1+1']);
  expect((await plantsOf()).map(({ notes }) => notes).sort()).toEqual(["'plain", '-5 °C']);
});

test('a long table of any characters is read unchanged, in pieces of any size', async () => {
  const name = '🌿×é'.repeat(20);
  const csv = `name,notes\n${`${name},${'木🌱'.repeat(300)}\n`.repeat(200)}`;
  await bringText(csv).expect(201);
  expect(new Set(await namesOf())).toEqual(new Set([name]));
});

test('other media types are refused', async () => {
  expectError(await bringText('name\nFern\n', 'text/plain'), 415, 'unsupported_media_type');
});
