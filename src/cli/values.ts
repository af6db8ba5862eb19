import { InvalidArgumentError, Option } from 'commander';

import { TIERS } from '../core/identity';
import { isUuid } from '../core/ids';
import { userNameFault } from '../core/text';
import { timezoneName } from '../core/time';

/** A user's name as it may be given on the command line. */
export function userName(value: string): string {
  const fault = userNameFault(value);
  if (fault !== undefined) throw new InvalidArgumentError(`It ${fault}.`);
  return value;
}

/** A whole number in a range. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  return (value: string): number => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= min && number <= max) return number;
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}

/** The text form of a UUID. */
export function uuid(value: string): string {
  if (isUuid(value)) return value;
  throw new InvalidArgumentError('It must be a UUID, as the lists show them.');
}

/** An IANA time zone name, such as Europe/Paris. */
export function timezone(value: string): string {
  const name = timezoneName(value);
  if (name !== undefined) return name;
  throw new InvalidArgumentError('It must be an IANA name, such as Europe/Paris or UTC.');
}

/** `--tier`, the same wherever it is taken. */
export function tierOption(description: string): Option {
  return new Option('--tier <tier>', description).choices(TIERS);
}
