import fc from 'fast-check';

import { addDays } from '../../../src/core/time';
import {
  type CareSoFar,
  daysBetween,
  dueDays,
  leavesDays,
  overlap,
  type Rule,
} from '../schedules/days';
import { plainly, someDay, someRule, someSeason } from './plain-days';

const NOTHING_DONE: CareSoFar = { lastOn: null, skippedOn: null, snoozedUntil: null };

function rule(fields: Partial<Rule>): Rule {
  const kinds = { everyDays: null, weekdays: null, monthDays: null };
  const always = { ...kinds, months: null, seasons: [], endOn: null };
  return { ...always, startOn: '2026-01-01', ...fields };
}

/** The next days, of which the first is due and the rest follow. */
function next(count: number, given: Partial<Rule>, lastOn: string | null, today = '2026-01-01') {
  return take(count, dueDays(rule(given), { ...NOTHING_DONE, lastOn }, today));
}

function take<T>(count: number, values: Iterable<T>): T[] {
  const taken: T[] = [];
  for (const value of values) {
    if (taken.push(value) >= count) break;
  }
  return taken;
}

test('the days of any rule equal those found day by day', () => {
  fc.assert(
    fc.property(
      someRule,
      fc.record({
        lastOn: fc.option(someDay),
        skippedOn: fc.option(someDay, { freq: 1 }),
        snoozedUntil: fc.option(someDay, { freq: 1 }),
      }),
      someDay,
      (given, soFar, today) => {
        const to = addDays(today, 1000);
        const plain = [...plainly.dueDays(given, soFar, today, to)].slice(0, 6);
        const days = take(6, dueDays(given, soFar, today)).filter((day) => day <= to);
        expect(days).toEqual(plain.filter((day) => day <= to));
        for (const [index, day] of plain.entries()) {
          const following = plain[index + 1];
          const isByInterval = given.everyDays !== null || given.seasons.length > 0;
          expect(daysBetween(given, day)).toBeGreaterThanOrEqual(1);
          if (isByInterval || following === undefined || day < today) continue;
          expect(addDays(day, daysBetween(given, day))).toBe(following);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('seasons overlap if a day of any year is in two of them', () => {
  fc.assert(
    fc.property(fc.array(someSeason, { minLength: 2, maxLength: 3 }), (seasons) => {
      const days = Array.from({ length: 366 }, (_, day) => addDays('2028-01-01', day));
      const shared = days.filter(
        (day) => seasons.filter((season) => plainly.isIn(season, day)).length > 1,
      );
      expect(overlap(seasons)).toBe(shared.length > 0);
    }),
  );
});

test('the first allowed day is due without care; later days are counted from the last care', () => {
  expect(next(3, { everyDays: 7 }, null)).toEqual(['2026-01-01', '2026-01-08', '2026-01-15']);
  expect(next(2, { everyDays: 7 }, '2025-12-30')).toEqual(['2026-01-06', '2026-01-13']);
  expect(next(1, { everyDays: 7, startOn: '2026-02-01' }, '2025-12-30')).toEqual(['2026-02-01']);
  expect(next(1, { everyDays: 3650 }, '2024-02-29')).toEqual(['2034-02-26']);
});

test('later days are counted as if overdue care were done today', () => {
  const days = next(3, { everyDays: 7 }, '2026-01-01', '2026-02-01');
  expect(days).toEqual(['2026-01-08', '2026-02-08', '2026-02-15']);
  const saturdays = next(3, { weekdays: ['sat'] }, '2026-01-01', '2026-02-07');
  expect(saturdays).toEqual(['2026-01-03', '2026-02-14', '2026-02-21']);
});

test('a season can span the new year', () => {
  const northern = { everyDays: 7, seasons: [{ from: '11-01', to: '02-28', everyDays: 21 }] };
  expect(next(3, northern, '2026-10-28')).toEqual(['2026-11-18', '2026-12-09', '2026-12-30']);
  expect(next(2, northern, '2027-02-20')).toEqual(['2027-03-01', '2027-03-08']);
  const southern = { everyDays: 7, seasons: [{ from: '06-01', to: '08-31', everyDays: 21 }] };
  expect(next(3, southern, '2026-05-28')).toEqual(['2026-06-18', '2026-07-09', '2026-07-30']);
});

test('the interval that holds on the due day counts, not that on the day of the last care', () => {
  const winter = { everyDays: 5, seasons: [{ from: '12-01', to: '02-28', everyDays: 20 }] };
  expect(next(1, winter, '2026-11-27')).toEqual(['2026-12-17']);
  // Long ago by the interval of spring.
  expect(next(1, winter, '2027-02-15')).toEqual(['2027-03-01']);
});

test('a season with interval 0 is a pause', () => {
  const feeding = { everyDays: 14, seasons: [{ from: '10-01', to: '03-01', everyDays: 0 }] };
  expect(next(2, feeding, '2026-09-25')).toEqual(['2027-03-02', '2027-03-16']);
  const monthly = { everyDays: 30, months: [4, 9] };
  expect(next(3, monthly, '2026-04-20')).toEqual(['2026-09-01', '2027-04-01', '2027-09-01']);
});

test('months apply within seasons, and the interval of a season replaces weekdays', () => {
  const seasons = [{ from: '06-01', to: '08-31', everyDays: 2 }];
  const given: Partial<Rule> = { weekdays: ['mon'], months: [5, 7], seasons };
  expect(next(4, given, '2026-05-20', '2026-05-20')).toEqual([
    '2026-05-25',
    '2026-07-01',
    '2026-07-03',
    '2026-07-05',
  ]);
});

test('a day that a month lacks is its last, and days that fall together are one', () => {
  const days = ['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30'];
  for (const monthDays of [[-1], [31], [31, -1]])
    expect(next(4, { monthDays }, null)).toEqual(days);
  const late = { monthDays: [30, 31, -1] };
  expect(next(4, late, null)).toEqual(['2026-01-30', '2026-01-31', '2026-02-28', '2026-03-30']);
  expect(next(3, late, '2028-01-31')).toEqual(['2028-02-29', '2028-03-30', '2028-03-31']);
  expect(next(2, { monthDays: [29] }, '2099-02-01')).toEqual(['2099-02-28', '2099-03-29']);
  expect(next(2, { monthDays: [29] }, '2100-02-01')).toEqual(['2100-02-28', '2100-03-29']);
  const order = { monthDays: [15, 1] };
  expect(next(3, order, null)).toEqual(['2026-01-01', '2026-01-15', '2026-02-01']);
});

test('weekdays of the month are counted from its first or are its last, and mix with plain ones', () => {
  const third = { weekdays: ['3fri'] } as const;
  expect(next(3, third, null)).toEqual(['2026-01-16', '2026-02-20', '2026-03-20']);
  // Four Fridays in the one month, five in the other.
  const last = { weekdays: ['-1fri', '4fri'] } as const;
  expect(next(4, last, null)).toEqual(['2026-01-23', '2026-01-30', '2026-02-27', '2026-03-27']);
  const mixed = { weekdays: ['1sun', 'thu', '1thu'] } as const;
  expect(next(4, mixed, null)).toEqual(['2026-01-01', '2026-01-04', '2026-01-08', '2026-01-15']);
});

test('days of the month apply within months and seasons', () => {
  const winter = { months: [1, 2, 12], seasons: [{ from: '01-15', to: '02-20', everyDays: 0 }] };
  expect(next(4, { monthDays: [10, 20, -1], ...winter }, null)).toEqual([
    '2026-01-10',
    '2026-02-28',
    '2026-12-10',
    '2026-12-20',
  ]);
  const june = { monthDays: [1], seasons: [{ from: '06-10', to: '06-20', everyDays: 5 }] };
  expect(next(4, june, '2026-05-20')).toEqual([
    '2026-06-01',
    '2026-06-10',
    '2026-06-15',
    '2026-06-20',
  ]);
  // The last Sunday of February is the 22nd in years without a 29th only.
  const day = [{ from: '02-23', to: '02-21', everyDays: 0 }];
  expect(next(2, { weekdays: ['-1sun'], seasons: day }, null)).toEqual([
    '2026-02-22',
    '2037-02-22',
  ]);
});

test('after the last occurrence the rule tells the days to another one', () => {
  for (const [kind, days] of [
    [{ monthDays: [5] }, 31],
    [{ weekdays: ['1thu'] }, 28],
    [{ weekdays: ['thu'] }, 7],
  ] as const) {
    expect(daysBetween(rule({ ...kind, endOn: '2026-03-31' }), '2026-03-05')).toBe(days);
  }
});

test('a season to 28 February ends on its last day, and one from 29 February begins on 1 March in other years', () => {
  for (const to of ['02-28', '02-29']) {
    const given = { everyDays: 1, seasons: [{ from: '01-01', to, everyDays: 0 }] };
    expect(next(1, given, '2027-01-05')).toEqual(['2027-03-01']);
    expect(next(1, given, '2028-01-05')).toEqual(['2028-03-01']);
  }
  const spring = { everyDays: 400, seasons: [{ from: '02-29', to: '03-05', everyDays: 1 }] };
  expect(next(2, spring, '2027-02-10')).toEqual(['2027-03-01', '2027-03-02']);
  expect(next(2, spring, '2028-02-10')).toEqual(['2028-02-29', '2028-03-01']);
  const leapDay = { everyDays: 3000, seasons: [{ from: '02-29', to: '02-29', everyDays: 1 }] };
  expect(next(2, leapDay, '2026-02-01')).toEqual(['2028-02-29', '2032-02-29']);
});

test('a skip counts like care, and a snooze sets the day', () => {
  const weekly = rule({ everyDays: 7 });
  const skipped = { ...NOTHING_DONE, lastOn: '2026-01-01', skippedOn: '2026-01-08' };
  expect(take(1, dueDays(weekly, skipped, '2026-01-05'))).toEqual(['2026-01-15']);
  const snoozed = { ...NOTHING_DONE, lastOn: '2026-01-01', snoozedUntil: '2026-01-20' };
  expect(take(2, dueDays(weekly, snoozed, '2026-01-05'))).toEqual(['2026-01-20', '2026-01-27']);
});

test('a rule may leave no day on which care is due', () => {
  const february = { months: [2], seasons: [{ from: '02-01', to: '02-29', everyDays: 0 }] };
  const none: Partial<Rule>[] = [
    { everyDays: 7, endOn: '2025-12-31' },
    { weekdays: ['sun'], endOn: '2026-01-03' },
    { everyDays: 7, ...february },
    { everyDays: 7, months: [2], endOn: '2026-01-31' },
  ];
  expect(none.map((given) => leavesDays(rule(given)))).toEqual(none.map(() => false));
  // The next Monday that is the 28th of February.
  const seasons = [{ from: '03-01', to: '02-27', everyDays: 0 }];
  expect(leavesDays(rule({ weekdays: ['mon'], seasons }))).toBe(true);
  expect(next(1, { weekdays: ['wed'], seasons }, null)).toEqual(['2029-02-28']);
});

test('the last day is in the year 9999', () => {
  expect(next(3, { everyDays: 3650, startOn: '9990-01-01' }, null)).toEqual([
    '9990-01-01',
    '9999-12-30',
  ]);
});
