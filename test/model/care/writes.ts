import fc from 'fast-check';

import { CARES } from '../../../plugins/care/schedules/schema';
import { someKind, someRule, someSeason } from '../../../plugins/care/test/plain-days';

export const ZONES = [
  'Pacific/Kiritimati',
  'America/St_Johns',
  'Pacific/Pago_Pago',
  'Asia/Kathmandu',
];
export const PLACES = ['Hall', ' hall', 'Loft'];

/** Mostly one kind of care, and rules that have begun, so that events often count for schedules. */
const someCare = fc
  .tuple(
    fc.constantFrom('watered', 'watered', 'watered', ...CARES),
    someRule,
    fc.constantFrom(
      {},
      { startOn: '2027-12-01', endOn: null },
      { startOn: '2028-01-30', endOn: null },
    ),
  )
  .map(([care, rule, span]) => ({
    ...rule,
    ...span,
    care,
    label: care === 'other' ? 'Mist' : null,
  }))
  .filter(({ startOn, endOn }) => endOn === null || endOn >= startOn)
  .map(withoutNull);
const someType = fc.constantFrom('watered', 'watered', 'fertilized', 'repotted', 'note');
const somePick = fc.oneof(fc.constant(0), fc.nat(99));
const frequency = fc.option(fc.integer({ min: 1, max: 20 }));
const somePlant = fc.record({
  name: fc.constantFrom('Fern', 'Ivy'),
  location: fc.constantFrom(...PLACES, null),
  wateringFrequencyDays: frequency,
  fertilizerFrequencyDays: frequency,
});
const someChange = fc.oneof(
  fc.record({ active: fc.boolean() }),
  fc.record({ months: fc.option(fc.subarray([1, 2, 3, 8], { minLength: 1 })) }),
  fc.record({ seasons: fc.array(someSeason, { maxLength: 1 }) }),
  fc.record({ startOn: fc.constantFrom('2027-12-31', '2028-02-29', '2028-03-05') }),
  fc.record({ endOn: fc.constantFrom(null, '2028-02-10', '2028-06-01') }),
  someKind,
);
/** A write; `pick` and `other` choose existing records. */
export const anyWrite = fc.record({
  user: fc.nat(2),
  device: fc.nat(1),
  kind: fc.constantFrom(
    ...(['plant', 'schedule', 'schedule', 'schedule', 'event', 'event', 'event', 'event'] as const),
    ...(['done', 'done', 'done', 'done', 'done', 'skip', 'skip', 'skip', 'wait', 'wait'] as const),
    ...(['snooze', 'snooze', 'snooze', 'snooze', 'snooze', 'snooze', 'delete event'] as const),
    ...(['change schedule', 'change schedule', 'delete schedule', 'change plant'] as const),
    ...(['move event', 'assign event', 'restore event', 'delete plant', 'rename'] as const),
    ...(['archive', 'unarchive', 'import', 'zone'] as const),
  ),
  pick: somePick,
  other: somePick,
  days: fc.nat(40),
  care: someCare,
  change: someChange,
  plant: somePlant,
  type: someType,
  whom: fc.constantFrom('schedule', 'schedule', 'plant', 'plant', 'plants', 'location', 'all'),
});
/** The first writes of each person, so that there is something to change. */
export const FIRST = [
  'plant',
  'plant',
  'plant',
  'schedule',
  'schedule',
  'schedule',
  'event',
] as const;
export type Write = typeof anyWrite extends fc.Arbitrary<infer T> ? T : never;

/** A body that creates a record, without null fields. */
export function withoutNull(body: object): object {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
