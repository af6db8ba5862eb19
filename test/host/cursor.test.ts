import { decodePosition, encodePosition } from '../../src/core/cursor';
import { DAY_MS } from '../../src/core/time';
import { decodeProgress, decodeCursor } from '../support/program';

test.each(['', '1773489600000.0198', 'Zimmer, Küche', '窓 🌿'])(
  'the cursor of the place "%s" decodes to it, in its own list only',
  (place) => {
    const cursor = encodePosition(['ada'], place);
    expect(decodePosition(['ada'], cursor)).toBe(place);
    expect(decodePosition(['bob'], cursor)).toBeUndefined();
  },
);

test('bytes that are not UTF-8 are not a cursor', () => {
  const cursor = Buffer.from(encodePosition(['ada'], 'é'), 'base64url').subarray(0, -1);
  expect(decodePosition(['ada'], cursor.toString('base64url'))).toBeUndefined();
});

const ID = '0192f0c1-7b7e-7c5a-8d3b-2f4e6a8c0d1e';

test.each(['NaN', 'x', '', '1e400', '0x5', '1.5', ' 1', '9'.repeat(20)])(
  'a cursor with the moment "%s" is invalid, even with a correct checksum',
  (moment) => {
    const cursor = encodePosition(['ada'], `${moment}.${ID}`);
    expect(() => decodeCursor(['ada'], cursor)).toThrow('cursor');
  },
);

test('a cursor of changes without a position is invalid', () => {
  const now = new Date('2026-03-14T12:00:00Z');
  const holder = { id: 'ada', createdAt: new Date('2026-03-01T12:00:00Z') };
  const today = Math.floor(now.getTime() / DAY_MS);
  const decode = (place: string) =>
    decodeProgress(holder, encodePosition(['ada', 'changes'], place), now);
  expect(decode(`${today}-${holder.createdAt.getTime()}.0.7./plants.${ID}`)).toMatchObject({
    base: 0,
  });
  expect(() => decode(`${today + 30}.0.7./plants.`)).toThrow('expired');
  for (const place of [
    '',
    '...',
    `${today}.0.NaN.0.`,
    `${today}.0..0.`,
    `${today}.0.7.x.`,
    `${today}.x.7.0.`,
    `${today}.0.7.0.x`,
    `${today}.0.7.999.`,
    `${today}.0.7.0.${'-'.repeat(36)}`,
    `${today}.0.7.0..7.0.`,
    `${today}.0.7.0.${ID}.${ID}`,
    'Infinity.0.7.0.',
    'x.0.7.0.',
  ]) {
    expect(() => decode(place)).toThrow('since');
  }
});
