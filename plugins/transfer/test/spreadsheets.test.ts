import { gzipSync } from 'node:zlib';

import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError, listOf } from '../../../test/support/shapes';
import { records } from '../../../test/support/client';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user({ timezone: 'Europe/Berlin' });
});
afterAll(() => service.close());

const UTF8_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const utf8 = (text: string): Buffer => Buffer.from(text);
const utf16le = (text: string): Buffer => Buffer.from(text, 'utf16le');
const utf16be = (text: string): Buffer => utf16le(text).swap16();
/** As Windows-1252 has the characters that it shares with ISO 8859-1. */
const windows1252 = (text: string): Buffer => Buffer.from(text, 'latin1');

const send = (file: Buffer, headers: Record<string, string> = {}) =>
  service.anonymous
    .post('/api/import')
    .auth(user.token, { type: 'bearer' })
    .set({ 'Content-Type': 'text/csv', ...headers })
    .serialize((given) => given as never)
    .send(file as never);
const speak = (language: string) => user.patch('/api/account', { language }).expect(200);
const plantsOf = async () => listOf(await user.get('/api/plants').expect(200));
const byName = async () => new Map((await plantsOf()).map((each) => [each['name'], each]));

/** The rows of one garden as a program writes them, and the language of the person. */
const FILES: [program: string, language: string, Buffer][] = [
  [
    'Excel in German, as "CSV UTF-8"',
    'de-AT',
    Buffer.concat([
      UTF8_MARK,
      utf8('name;location;toxic;mossPoleNeeded;wateringFrequencyDays\r\n'),
      utf8('Efeu;Küche;WAHR;FALSCH;7\r\nFarn;"Bad; oben";FALSCH;;\r\n;;;;\r\n;;;;\r\n'),
    ]),
  ],
  [
    'Excel in German, as "Unicode Text"',
    'de',
    Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      utf16le('name\tlocation\ttoxic\tmossPoleNeeded\twateringFrequencyDays\r\n'),
      utf16le('Efeu\tKüche\tWAHR\tFALSCH\t7\r\nFarn\t"Bad; oben"\tFALSCH\t\t\r\n\t\t\t\t\r\n'),
    ]),
  ],
  [
    'Excel in French',
    'fr-FR',
    Buffer.concat([
      UTF8_MARK,
      utf8('name;location;toxic;mossPoleNeeded;wateringFrequencyDays\r\n'),
      utf8('Efeu;Küche;VRAI;FAUX;7\r\n ; ;;\u00a0;\r\nFarn;"Bad; oben";Non;;\r\n'),
    ]),
  ],
  [
    'LibreOffice, in UTF-16',
    'de',
    Buffer.concat([
      Buffer.from([0xfe, 0xff]),
      utf16be('name,location,toxic,mossPoleNeeded,wateringFrequencyDays\n'),
      utf16be('Efeu,Küche,WAHR,FALSCH,7\nFarn,Bad; oben,FALSCH,,\n,,,,\n'),
    ]),
  ],
  [
    'LibreOffice, with quoted text',
    'en',
    utf8(
      '"name","location","toxic","mossPoleNeeded","wateringFrequencyDays"\n' +
        '"Efeu","Küche",TRUE,FALSE,7\n"Farn","Bad; oben",FALSE,,\n,,,,\n',
    ),
  ],
  [
    'Google Sheets, without a last line break',
    'en',
    utf8(
      'name,location,toxic,mossPoleNeeded,wateringFrequencyDays\r\n' +
        'Efeu,Küche,TRUE,FALSE,7\r\nFarn,Bad; oben,FALSE,,\r\n,,,,',
    ),
  ],
  [
    'Numbers in German, with empty lines around the table',
    'de',
    utf8(
      ';;;;\r\nname;location;toxic;mossPoleNeeded;wateringFrequencyDays\r\n' +
        'Efeu;Küche;WAHR;FALSCH;7\r\n   \r\nFarn;"Bad; oben";FALSCH;;\r\n;;;;',
    ),
  ],
  [
    'Excel for Macintosh, with carriage returns alone',
    'en',
    utf8(
      'name;location;toxic;mossPoleNeeded;wateringFrequencyDays\r' +
        'Efeu;Küche;1;0;7\rFarn;"Bad; oben";no;;\r',
    ),
  ],
  [
    'a person, with spaces',
    'en',
    utf8(
      ' name , location , toxic , mossPoleNeeded , wateringFrequencyDays \n' +
        ' Efeu , Küche , Yes , No , 7 \n Farn , "Bad; oben" , no ,\u00a0,\t\n',
    ),
  ],
];

describe.each(FILES)('a file of %s is imported', (_program, language, file) => {
  test.each([
    ['as it is', file, {}],
    ['compressed', gzipSync(file), { 'Content-Encoding': 'gzip' }],
  ])('%s', async (_as, body, headers) => {
    await speak(language);
    const answer = await send(body, headers);
    expect([answer.status, answer.body]).toEqual([201, { plants: 2, events: 0 }]);
    const plants = await byName();
    expect(plants.get('Efeu')).toMatchObject({
      location: 'Küche',
      toxic: true,
      mossPoleNeeded: false,
      wateringFrequencyDays: 7,
    });
    expect(plants.get('Farn')).toMatchObject({
      location: 'Bad; oben',
      toxic: false,
      mossPoleNeeded: false,
      wateringFrequencyDays: null,
    });
  });
});

test('white space within quotes is kept, and does not matter in days and words', async () => {
  await send(utf8('name,notes,toxic,lastWatered\nEfeu," a ", "true ", " 2026-01-05 "\n')).expect(
    201,
  );
  expect(await plantsOf()).toMatchObject([
    { notes: ' a ', toxic: true, lastWatered: '2026-01-05T11:00:00.000Z' },
  ]);
});

test('any number of lines of delimiters is skipped, but none within quotes', async () => {
  const blank = ';;\r\n ; ;\r\n'.repeat(20_000);
  const notes = 'one\n;;\n\n"two"';
  const csv = `name;notes;toxic\r\n${blank}Efeu;"${notes.replaceAll('"', '""')}";\r\n${blank}`;
  await send(utf8(csv)).expect(201);
  expect(await plantsOf()).toMatchObject([{ name: 'Efeu', notes }]);
  const answer = await send(utf8(`${csv};;maybe\r\n`));
  expect(bodyOf(answer)['details']).toMatchObject([{ line: 80_006 }, { line: 80_006 }]);
});

test('words of another language are a fault that names the words', async () => {
  await speak('de');
  const answer = await send(utf8('name;toxic\nEfeu;VRAI\nFarn;ja\nIvy;2\n'));
  expectError(answer, 400, 'validation_error', /^Line 2: toxic must be true or false, yes or no/);
  expect(bodyOf(answer)['details']).toMatchObject([{ line: 2 }, { line: 4 }]);
});

test.each([
  ['dd.mm.yyyy', '24.12.2025', '4.1.2026'],
  ['dd/mm/yyyy', '24/12/2025', '04/01/2026'],
  ['m/d/yyyy', '12/24/2025', '1/4/2026'],
  ['dd.mm.yy', '24.12.25', '04.01.26'],
  ['yyyy-mm-dd', '2025-12-24', '2026-01-04'],
])('dates in the form %s are read', async (dates, bought, watered) => {
  const columns = { name: 'Plant', createdAt: 'Bought', lastWatered: 'Watered' };
  const csv = `Plant;Bought;Watered\nEfeu;${bought};${watered}\n`;
  await user.post('/api/import', { csv, columns, dates }).expect(201);
  expect(await plantsOf()).toMatchObject([
    { createdAt: '2025-12-23T23:00:00.000Z', lastWatered: '2026-01-04T11:00:00.000Z' },
  ]);
});

test('the days of the last care become events, from which due care follows', async () => {
  const today = String(bodyOf(await user.get('/api/account'))['today']);
  const csv =
    'name,wateringFrequencyDays,lastWatered,lastFertilized\n' +
    `Efeu,7,2026-01-05,2025-11-30\nFarn,7,,\nOak,7,${today},\n`;
  expect(bodyOf(await send(utf8(csv)).expect(201))).toEqual({ plants: 3, events: 3 });
  const items = records(bodyOf(await user.get('/api/events'))['items']);
  expect(items).toHaveLength(3);
  expect(items.slice(1)).toMatchObject([
    { type: 'watered', occurredAt: '2026-01-05T11:00:00.000Z' },
    { type: 'fertilized', occurredAt: '2025-11-30T11:00:00.000Z' },
  ]);
  const due = records(bodyOf(await user.get('/api/care?dueBy=2999-01-01'))['items']);
  expect(due.find(({ plantName }) => plantName === 'Efeu')).toMatchObject({
    lastDone: '2026-01-05T11:00:00.000Z',
    dueOn: '2026-01-12',
  });
});

test('a day of the last care that is no day, or to come, is a fault of its line', async () => {
  const csv = 'name,lastWatered\nEfeu,2999-01-01\nFarn,yesterday\nOak,2026-01\nElm,2026-02-30\n';
  const answer = await send(utf8(csv));
  expectError(answer, 400, 'validation_error', /^Line 2: lastWatered must not be after today/);
  expect(bodyOf(answer)['details']).toMatchObject([2, 3, 4, 5].map((line) => ({ line })));
});

const UMLAUTS = 'name;location\r\nEfeu;Küche\r\n';

test.each<[string, Buffer, RegExp]>([
  ['Windows-1252', windows1252(UMLAUTS), /Windows-1252/],
  ['little-endian UTF-16 without a mark', utf16le(UMLAUTS), /UTF-16 without a byte order mark/],
  ['big-endian UTF-16 without a mark', utf16be(UMLAUTS), /UTF-16 without a byte order mark/],
  [
    'little-endian UTF-32',
    Buffer.concat([Buffer.from([0xff, 0xfe, 0, 0]), Buffer.from([0x6e, 0, 0, 0])]),
    /is UTF-32/,
  ],
  [
    'big-endian UTF-32',
    Buffer.concat([Buffer.from([0, 0, 0xfe, 0xff]), Buffer.from([0, 0, 0, 0x6e])]),
    /is UTF-32/,
  ],
  ['UTF-8 that is damaged', Buffer.concat([UTF8_MARK, windows1252(UMLAUTS)]), /damaged UTF-8/],
  [
    'UTF-16 that is cut short',
    Buffer.concat([Buffer.from([0xff, 0xfe]), utf16le(UMLAUTS).subarray(0, -1)]),
    /damaged UTF-16LE/,
  ],
])('%s gets 400 with the name of the encoding', async (_, file, message) => {
  expectError(await send(file), 400, 'invalid_text', message);
  const zipped = await send(gzipSync(file), { 'Content-Encoding': 'gzip' });
  expectError(zipped, 400, 'invalid_text', message);
  expect(await plantsOf()).toEqual([]);
});

test('the charset of the header may be that of the file', async () => {
  const file = Buffer.concat([Buffer.from([0xff, 0xfe]), utf16le(UMLAUTS)]);
  for (const charset of ['utf-16', 'UTF-16LE', 'utf8']) {
    await send(file, { 'Content-Type': `text/csv; charset=${charset}` }).expect(201);
  }
  const latin = await send(windows1252(UMLAUTS), { 'Content-Type': 'text/csv; charset=latin1' });
  expectError(latin, 400, 'invalid_text', /is latin1/);
});

test.each<[string, Buffer]>([
  ['of nothing', Buffer.alloc(0)],
  ['of a byte order mark', UTF8_MARK],
  ['of white space', utf8(' \r\n\t\r\n')],
])('a body %s is empty', async (_, file) => {
  const message = /^The request body is empty\.$/;
  expectError(await send(file), 400, 'invalid_text', message);
  const zipped = await send(gzipSync(file), { 'Content-Encoding': 'gzip' });
  expectError(zipped, 400, 'invalid_text', message);
});

test.each([
  ';;;',
  ';;;\r\n;;;\r\n',
  '\n \n;;;\n',
  ',,,\n,,,',
  ' ; \n;',
  ',',
  '\ufeff;;\n',
  ';\t;\n',
])('a table of delimiters alone has only empty lines: %j', async (csv) => {
  const message = /^csv has only empty lines\.$/;
  expectError(await send(utf8(csv)), 400, 'validation_error', message);
  const json = await user.post('/api/import', { csv });
  expectError(json, 400, 'validation_error', message);
  expect(bodyOf(json)['details']).toEqual([{ field: 'csv', message: 'csv has only empty lines.' }]);
});

test('a table without plants, as the export of an empty garden, adds none', async () => {
  const { text } = await user.get('/api/export?format=csv').expect(200);
  expect(bodyOf(await send(utf8(text)).expect(201))).toEqual({ plants: 0, events: 0 });
});

test('a compressed body that is cut short is not called JSON', async () => {
  const cut = gzipSync(utf8(UMLAUTS)).subarray(0, 20);
  const answer = await send(cut, { 'Content-Encoding': 'gzip' });
  expectError(answer, 400, 'invalid_text', /compressed request body is corrupt/);
});

test('the export begins with a byte order mark, and can be imported', async () => {
  await send(utf8('name;toxic\nÖlbaum;true\n')).expect(201);
  const { text } = await user.get('/api/export?format=csv').expect(200);
  expect(text).toMatch(/^\ufeffname,species,/);
  const other = await service.user();
  await other.post('/api/import', { csv: text }).expect(201);
  expect(listOf(await other.get('/api/plants'))).toMatchObject([{ name: 'Ölbaum', toxic: true }]);
});
