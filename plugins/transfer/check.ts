import type { Account } from '../../src/core/identity';
import { calendarOf } from '../../src/core/time';
import { isRecord } from '../../src/core/values';
import type { ValidationErrors } from '../../src/fields/validation';
import { GardenCheck, listOf } from './garden-check';
import type { ImportBody, ImportedGarden, Part } from './schema';

/** The most that one import may have. */
export interface ImportLimits {
  plants: number;
  events: number;
}

/** Checks a body, a piece at a time; adds its faults to `errors`. */
export async function checkedGarden(
  body: ImportBody,
  errors: ValidationErrors,
  account: Account,
  limits: ImportLimits,
): Promise<ImportedGarden> {
  const isTable = 'csv' in body;
  const part = isTable ? undefined : partOf(body, errors);
  const check = new GardenCheck(errors, calendarOf(account.timezone)(new Date()), part);
  for (const name of isTable ? ['photos', 'part', 'parts'] : ['columns', 'delimiter', 'dates']) {
    if (name in body) errors.add(name, `is allowed only with ${isTable ? 'plants' : 'csv'}`);
  }
  // Another type is a fault already.
  if ('csv' in body && typeof body.csv === 'string') {
    if (errors.count > 0) return { plants: [], photos: [] };
    return { plants: await check.table(body.csv, body, account, limits.plants), photos: [] };
  }
  const { plants = [], photos = [] } = body as Partial<ImportedGarden>;
  if (listOf(plants).length > limits.plants) return { plants: [], photos: [] };
  const events = listOf(plants).flatMap((each) => (isRecord(each) ? [each['events']] : []));
  const count = events.reduce<number>((sum, each) => sum + listOf(each).length, 0);
  if (count > limits.events) {
    errors.add('plants', `must have at most ${limits.events.toLocaleString('en')} events in all`);
    return { plants: [], photos: [] };
  }
  return {
    plants: await check.plants(listOf(plants)),
    photos: await check.photos('', photos),
    part,
  };
}

function partOf({ part, parts }: Partial<Part>, errors: ValidationErrors): Part | undefined {
  if (part === undefined && parts === undefined) return undefined;
  // Anything but a number is a fault already.
  if (![part, parts].every((each) => each === undefined || Number.isInteger(each)))
    return undefined;
  if (part === undefined) errors.add('part', 'is required beside parts');
  else if (parts === undefined) errors.add('parts', 'is required beside part');
  else if (part > parts) errors.add('part', 'must not be greater than parts');
  else return { part, parts };
  return undefined;
}
