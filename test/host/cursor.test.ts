import { decodePlace, encodePlace } from '../../src/core/cursor';

test.each(['', '1773489600000.0198', 'Zimmer, Küche', '窓 🌿'])(
  'the cursor of the place "%s" leads back to it, in its own list only',
  (place) => {
    const cursor = encodePlace(['ada'], place);
    expect(decodePlace(['ada'], cursor)).toBe(place);
    expect(decodePlace(['bob'], cursor)).toBeUndefined();
  },
);

test('bytes that are no text are no cursor', () => {
  const cursor = Buffer.from(encodePlace(['ada'], 'é'), 'base64url').subarray(0, -1);
  expect(decodePlace(['ada'], cursor.toString('base64url'))).toBeUndefined();
});
