import { ApiError } from '../../../src/core/errors';
import { RecountPace } from '../recount-pace';

/** How long an account has to wait before it may change to a zone, in seconds. */
function waitOf(pace: RecountPace, timezone: string, events: number): number {
  try {
    pace.spend('ada', timezone, events);
    return 0;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return Number(error.headers['Retry-After']);
  }
}

test('however many events are counted anew, they may be again after two minutes', () => {
  let now = 0;
  const pace = new RecountPace(() => now);
  expect(waitOf(pace, 'Asia/Tokyo', 3_000_000)).toBe(0);
  now += 30_000;
  expect(waitOf(pace, 'Europe/Paris', 3_000_000)).toBe(90);
  now += 90_000;
  expect(waitOf(pace, 'Europe/Paris', 3_000_000)).toBe(0);
});

test('the last change may be sent again for as long as it may be under way', () => {
  let now = 0;
  const pace = new RecountPace(() => now);
  expect(waitOf(pace, 'Asia/Tokyo', 3_000_000)).toBe(0);
  now += 5000;
  expect(waitOf(pace, 'Asia/Tokyo', 3_000_000)).toBe(0);
  now += 30_000;
  expect(waitOf(pace, 'Asia/Tokyo', 3_000_000)).toBeGreaterThan(60);
});
