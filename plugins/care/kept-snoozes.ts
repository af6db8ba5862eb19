import Joi from 'joi';

import { idText } from '../../src/core/ids';
import { day, id, integer, named, nullable, oneOf, text, timestamp } from '../../src/fields/joi';
import { importedAuthor } from '../events';
import { RECURRING_TYPES, type RecurringCare } from '../plants';
import { type Act, MAX_ACTS } from './acts';
import { RULE_FIELDS } from './schedules/days';
import { MAX_SCHEDULES } from './schedules/model';
import { schedule, type ScheduleDocument } from './schedules/schema';
import {
  fieldsOfHistory,
  historyFieldsOf,
  historyFieldsOfSchedule,
  type SnoozedPlant,
  type StoredHistory,
} from './snoozes';

/** The snoozes and skips of a care in exports, whether they stand or not, since undoing care may restore them. */
export interface KeptSnooze {
  /** Of a frequency of the plant. */
  type?: RecurringCare;
  scheduleId?: string;
  until?: string;
  skippedOn?: string;
  setAt?: Date;
  acts?: Act[];
}

const at = timestamp({ hoursAhead: 24 });

const act = Joi.object({
  at: at.required().description('When the person decided'),
  revision: integer(0).description('Orders those of one moment'),
  until: nullable(day()).description('null undoes; a skip has none'),
  zone: text({ min: 1, max: 64 }).description('The time zone of the account then'),
  dueOn: day(),
  ofSeveral: Joi.boolean().valid(true),
  by: importedAuthor,
  rule: Joi.object(
    Object.fromEntries(RULE_FIELDS.map((name) => [name, schedule.patchBody.extract(name)])),
  ).description('Of a change of the rule: what held until then'),
}).xor('zone', 'rule');

export const keptSnooze = named(
  'KeptSnooze',
  Joi.object<KeptSnooze>({
    type: oneOf(RECURRING_TYPES).description('Of a frequency of the plant'),
    scheduleId: id().description('Of a schedule of the plant'),
    until: day(),
    skippedOn: day().description('The care counts as done on this day'),
    setAt: at,
    acts: Joi.array().items(act).max(MAX_ACTS).description('All that people decided, in any order'),
  })
    .xor('type', 'scheduleId')
    .messages({
      'object.missing': 'type or scheduleId is required',
      'object.xor': 'scheduleId must not be given together with type',
    }),
);

/** The most of a plant: one of each frequency and schedule. */
export const MAX_SNOOZES = RECURRING_TYPES.length + MAX_SCHEDULES;

/** All snoozes and skips of a plant. */
export function keptSnoozesOf(
  plant: SnoozedPlant,
  schedules: readonly ScheduleDocument[],
): KeptSnooze[] {
  return [
    ...RECURRING_TYPES.flatMap((type) => kept(historyFieldsOf(plant, type), { type })),
    ...schedules.flatMap((each) =>
      kept(historyFieldsOfSchedule(each), { scheduleId: idText(each._id) }),
    ),
  ];
}

function kept({ acts, until, skippedOn, setAt }: StoredHistory, of: KeptSnooze): KeptSnooze[] {
  if (acts.length === 0 && until === null && skippedOn === null) return [];
  return [
    {
      ...of,
      ...(until !== null && { until }),
      ...(skippedOn !== null && { skippedOn }),
      ...(setAt && { setAt }),
      ...(acts.length > 0 && { acts: [...acts] }),
    },
  ];
}

/** The snoozes and skips of a care as fields of a new plant or schedule. */
export function fieldsOfKept({ type, acts = [], ...given }: KeptSnooze): object {
  const until = given.until ?? null;
  const skippedOn = given.skippedOn ?? null;
  const setAt = given.setAt ?? null;
  if (type !== undefined) return fieldsOfHistory(type, { acts, until, skippedOn, setAt });
  return { acts, snoozedUntil: until, skippedOn, snoozedAt: setAt };
}
