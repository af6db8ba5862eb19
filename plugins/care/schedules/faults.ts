import { KINDS, leavesDays, overlap, type Rule } from './days';
import type { Care } from './schema';

/** The fields of a schedule that depend on each other. */
type Checked = Rule & { care: Care; label: string | null };

/** A fault of a schedule as a whole, at one of its fields. */
interface RuleFault {
  field: keyof Checked;
  /** Completes a sentence about the field: "is not allowed". */
  what: string;
}

/** The faults of a schedule whose fields are valid. */
export function faultsOf(schedule: Checked): RuleFault[] {
  const { care, label, seasons, startOn, endOn } = schedule;
  const faults: RuleFault[] = [];
  const add = (field: keyof Checked, what: string): void => {
    faults.push({ field, what });
  };
  if (care === 'other' && label === null) add('label', 'is required if care is other');
  if (care !== 'other' && label !== null) add('label', 'is allowed only if care is other');
  const [kind, other] = KINDS.filter((field) => schedule[field]);
  if (!kind) add('everyDays', 'or weekdays or monthDays is required');
  if (other) add(other, `must not be set together with ${kind}`);
  if (endOn !== null && endOn < startOn) add('endOn', 'must not be before startOn');
  if (overlap(seasons)) add('seasons', 'must not overlap');
  if (faults.length === 0 && !leavesDays(schedule)) {
    const field = endOn === null ? 'seasons' : 'endOn';
    add(field, 'must leave a day on which care is due');
  }
  return faults;
}
