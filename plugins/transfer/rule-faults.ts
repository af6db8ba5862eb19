import type { ValidationErrors } from '../../src/fields/validation';
import { faultsOf } from '../care';
import type { ImportedSchedule } from './schema';

/**
 * Adds the faults of a schedule whose fields are valid.
 *
 * @param today the first day if none is given
 */
export function addRuleFaults(
  given: ImportedSchedule,
  today: string,
  errors: ValidationErrors,
): void {
  const { care, label, seasons, startOn, endOn } = given;
  const faults = faultsOf({
    care,
    label: label ?? null,
    everyDays: given.everyDays ?? null,
    weekdays: given.weekdays ?? null,
    monthDays: given.monthDays ?? null,
    months: given.months ?? null,
    seasons,
    endOn: endOn ?? null,
    startOn: startOn ?? today,
  });
  for (const { field, what } of faults) errors.add(field, what);
}
