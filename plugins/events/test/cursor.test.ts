import { eventPage } from '../../../test/support/paging';
import { several } from '../../../test/support/several';
import type { TestService, TestUser } from '../../../test/support/service';
import { expectError } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;
let plantId: string;
let cursor: string;

beforeAll(async () => {
  service = await startService();
  user = await service.user();
  plantId = (await user.plant()).id;
  for (let count = 0; count < 3; count += 1) await user.event(plantId);
  const page = await eventPage(user, plantId, { limit: 1 });
  cursor = page.nextCursor ?? '';
});
afterAll(() => service.close());

function next(tampered: string, ofPlant = plantId, by = user) {
  return by.get(`/api/plants/${ofPlant}/events?cursor=${encodeURIComponent(tampered)}`);
}

test('a cursor is base64url and can be used more than once', async () => {
  expect(cursor).toMatch(/^[\w-]+$/);
  const [once, twice] = await Promise.all([next(cursor), next(cursor)]);
  expect(once.status).toBe(200);
  expect(once.body).toEqual(twice.body);
});

test('a cursor with any one character changed is refused', async () => {
  await several(cursor.length, async (index) => {
    const other = cursor[index] === 'A' ? 'B' : 'A';
    const tampered = cursor.slice(0, index) + other + cursor.slice(index + 1);
    expectError(await next(tampered), 400, 'invalid_cursor', /\bcursor\b/);
  });
});

test('the last character of a cursor cannot be replaced by an equivalent one', async () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const others = alphabet.replace(cursor.at(-1) ?? '', '').split('');
  await several(others.length, async (index) => {
    const tampered = cursor.slice(0, -1) + (others[index] ?? '');
    expectError(await next(tampered), 400, 'invalid_cursor');
  });
});

test('a truncated cursor is refused, wherever it was cut', async () => {
  await several(cursor.length, async (length) => {
    expectError(await next(cursor.slice(0, length)), 400, 'invalid_cursor');
    expectError(await next(cursor.slice(cursor.length - length)), 400, 'invalid_cursor');
  });
});

test.each([
  ['padding', '='],
  ['a space', ' '],
  ['a line break', '\n'],
  ['NUL', '\0'],
  ['a letter more', 'A'],
  ['four letters more', 'AAAA'],
  ['a percent sign', '%'],
  ['an astral character', '🌱'],
])('a cursor with %s added is refused', async (_what, more) => {
  expectError(await next(cursor + more), 400, 'invalid_cursor');
  expectError(await next(more + cursor), 400, 'invalid_cursor');
});

test.each([
  ['a word', 'garbage'],
  ['null', 'null'],
  ['a number', '15'],
  ['JSON', '{"$gt":""}'],
  ['JSON in base64url', Buffer.from('{"occurredAt":0,"id":{"$gt":""}}').toString('base64url')],
  ['an id', '0192f0c1-7b7e-7c5a-8d3b-2f4e6a8c0d1e'],
  ['a position without its check', Buffer.from('0.0192f0c1-7b7e').toString('base64url')],
  ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00, 0x80]).toString('base64url')],
  ['8,000 letters', 'A'.repeat(8000)],
])('%s is not a cursor', async (_what, text) => {
  expectError(await next(text), 400, 'invalid_cursor');
});

test('plain base64 of the same bytes is not a cursor', async () => {
  const bytes = Buffer.from(cursor, 'base64url');
  const base64 = bytes.toString('base64');
  if (base64 !== cursor) expectError(await next(base64), 400, 'invalid_cursor');
});

test('a cursor of one plant is not valid for another plant of the user', async () => {
  const other = await user.plant();
  for (let count = 0; count < 3; count += 1) await user.event(other.id);
  expectError(await next(cursor, other.id), 400, 'invalid_cursor');
});

test('a cursor of one user is not valid for another', async () => {
  const other = await service.user();
  const theirs = await other.plant();
  await other.event(theirs.id);
  expectError(await next(cursor, theirs.id, other), 400, 'invalid_cursor');
});

test('a cursor is valid for its plant, whatever the case of the id in the path', async () => {
  await next(cursor, plantId.toUpperCase()).expect(200);
});

test('an invalid cursor is reported before a missing plant', async () => {
  expectError(await next('garbage', '00000000-0000-4000-8000-000000000000'), 400, 'invalid_cursor');
});
