import type { Author } from '../../src/core/identity';
import { calendarOf, type DatedMoment } from '../../src/core/time';
import { canonicalJson } from '../../src/core/values';
import { firstDueDay, type Rule } from './schedules/days';

/** How many acts of one care are kept: those with the latest moments. */
export const MAX_ACTS = 64;

/** What a moment in the history of a care needs for its order. */
interface Moment {
  at: Date;
  /** The revision of the account, if it happened on arrival; of one millisecond such acts come last. */
  revision?: number;
}

/** A person put care off until a day, took that or a skip back (null), or skipped an occurrence (no `until`). */
export interface Decision extends Moment {
  until?: string | null;
  /** The time zone of the account on arrival. */
  zone: string;
  /** Only if the care is due on this day. */
  dueOn?: string;
  /** Only if another than the owner decided. */
  by?: Author;
  /** Of several, only care that is due is skipped, and none is brought forward. */
  ofSeveral?: true;
}

/** The rule of the care was changed. */
interface RuleChange extends Moment {
  /** What held until then. */
  rule: Partial<Rule>;
}

/** An act of a care, as it is stored, in any order. */
export type Act = Decision | RuleChange;

/** What stands of the decisions about the next occurrence; at most one of the two days is set. */
export interface Standing {
  /** Care is due on this day. */
  until: string | null;
  /** Care was skipped, and counts as done on this day. */
  skippedOn: string | null;
  /** Who decided that, unless it was the owner. */
  by?: Author;
}

export const NOTHING: Standing = { until: null, skippedOn: null };

/** A snooze or skip as 1.2.0 stored it. */
export interface StoredSnooze extends Standing {
  /** When the snooze was set; null for a skip. */
  setAt: Date | null;
}

/** All that determines when care is due. */
export interface History {
  rule: Rule;
  last: DatedMoment | null;
  acts: readonly Act[];
  stored: StoredSnooze;
  /** For a frequency without care: when the plant was added. Its day in the zone of an act was the first due day. */
  addedAt?: Date;
}

/** An update that adds an act to the stored ones under a path. */
export function addition(path: string, act: Act): { $push: object } {
  return { $push: { [path]: { $each: [act], $sort: { at: 1 }, $slice: -MAX_ACTS } } };
}

/**
 * What stands of all decisions in the order of their moments, whatever the order in which they and the care
 * arrived (docs/api.md, "Due care").
 *
 * @param onDecision receives each decision that no later care ended, with the day on which care was due then
 */
export function standing(
  history: History,
  onDecision: (act: Decision, dueOn: string | undefined) => void = () => undefined,
): Standing {
  const { last, acts, stored, addedAt } = history;
  // A skip of 1.2.0 has no moment: it stands until care on a later day, or after another act until any care.
  const isOver = last !== null && acts.some(({ at }) => at < last.at);
  const counts = stored.skippedOn !== null && stored.skippedOn > (last?.on ?? '');
  let state: Standing = { until: null, skippedOn: counts && !isOver ? stored.skippedOn : null };
  for (const [index, { act, rule }] of timeline(history).entries()) {
    if (isEnded(act, last)) continue;
    const { until: snoozedUntil, skippedOn } = state;
    const then = addedAt ? { ...rule, startOn: calendarOf(act.zone)(addedAt) } : rule;
    const dueOn = firstDueDay(then, { lastOn: last?.on ?? null, skippedOn, snoozedUntil });
    onDecision(act, dueOn);
    // Earlier ones than the first that is kept may have made it due on the day that was meant.
    const isFirst = index === 0 && acts.length >= MAX_ACTS;
    state = decided(state, act, isFirst ? (act.dueOn ?? dueOn) : dueOn);
  }
  return state;
}

/** Whether care of a later moment has ended a decision; a skip also ends with care of the same moment. */
export function isEnded({ at, until }: Decision, last: DatedMoment | null): boolean {
  return last !== null && (at < last.at || (until === undefined && at <= last.at));
}

/** The decisions in the order of their moments, each with the rule that held then. */
function timeline({ rule, acts, stored }: History): { act: Decision; rule: Rule }[] {
  const { until, setAt } = stored;
  const snooze = until !== null && setAt ? [{ at: setAt, until, zone: 'UTC' }] : [];
  const decisions = [];
  let held = rule;
  for (const act of [...snooze, ...acts].sort(compareActs).reverse()) {
    if ('rule' in act) held = { ...held, ...act.rule };
    else decisions.unshift({ act, rule: held });
  }
  return decisions;
}

function decided(before: Standing, act: Decision, dueOn: string | undefined): Standing {
  const { until, ofSeveral = false, by } = act;
  const who = by && { by };
  if (act.dueOn !== undefined && act.dueOn !== dueOn) return before;
  if (until === null) return NOTHING;
  if (until !== undefined) {
    const isPutOff = dueOn !== undefined && dueOn < until;
    return isPutOff || !ofSeveral ? { until, skippedOn: null, ...who } : before;
  }
  const on = calendarOf(act.zone)(act.at);
  if (dueOn === undefined || (ofSeveral && dueOn > on)) return before;
  return { until: null, skippedOn: dueOn > on ? dueOn : on, ...who };
}

/** By moment; two of the same moment have an order too, whichever arrived first. */
function compareActs(a: Act, b: Act): number {
  const order = a.at.getTime() - b.at.getTime() || (a.revision ?? 0) - (b.revision ?? 0);
  return order === 0 ? (canonicalJson(a) < canonicalJson(b) ? -1 : 1) : order;
}
