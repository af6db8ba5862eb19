import { InvalidArgumentError, Option } from 'commander';

import { TIERS } from '../core/identity';
import { isUuid } from '../core/ids';
import { isCalendarDay, timezoneName } from '../core/time';
import { newUserNameFault, userNameFault } from '../core/text/names';

/** Parses the name of an existing user. */
export function userName(value: string): string {
  const fault = userNameFault(value);
  if (fault !== undefined) throw new InvalidArgumentError(`It ${fault}.`);
  return value;
}

/** Parses the name of an operator, or of a user whose account may be created. */
export function newUserName(value: string): string {
  const fault = newUserNameFault(value);
  if (fault !== undefined) throw new InvalidArgumentError(`It ${fault}.`);
  return value;
}

export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  return (value: string): number => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= min && number <= max) return number;
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}

const UNIT_SECONDS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 60 * 60],
  ['d', 24 * 60 * 60],
]);

/** Parses a duration such as `3600`, `15m`, `24h` or `90d`; returns seconds. */
export function duration(minSeconds: number, maxSeconds: number) {
  return (value: string): number => {
    const seconds = secondsOf(value);
    if (seconds !== undefined && seconds >= minSeconds && seconds <= maxSeconds) return seconds;
    throw new InvalidArgumentError(
      `It must be from ${minSeconds} to ${maxSeconds} seconds, or a duration such as 15m, 24h or 90d.`,
    );
  };
}

/** Parses a time in the past: an RFC 3339 date or date-time, or a duration ago such as `24h`. */
export function pastMoment(value: string): Date {
  const seconds = secondsOf(value);
  const time = seconds === undefined ? momentOf(value) : Date.now() - seconds * 1000;
  if (Number.isFinite(time)) return new Date(time);
  throw new InvalidArgumentError(
    'It must be a date such as 2026-03-01 or 2026-03-01T09:30:00Z, or a duration such as 24h or 30d.',
  );
}

function momentOf(value: string): number {
  const isOne = /^\d{4}-\d{2}-\d{2}(T\S+(Z|[+-]\d{2}:\d{2}))?$/.test(value);
  return isOne && isCalendarDay(value.slice(0, 10)) ? Date.parse(value) : NaN;
}

function secondsOf(value: string): number | undefined {
  const [, digits, unit = 's'] = /^(\d{1,12})([smhd])?$/.exec(value) ?? [];
  const factor = UNIT_SECONDS.get(unit);
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}

export function uuid(value: string): string {
  if (isUuid(value)) return value;
  throw new InvalidArgumentError('It must be a UUID.');
}

export function timezone(value: string): string {
  const name = timezoneName(value);
  if (name !== undefined) return name;
  throw new InvalidArgumentError('It must be an IANA time zone name, such as Europe/Paris or UTC.');
}

export function tierOption(description: string): Option {
  return new Option('--tier <tier>', description).choices(TIERS);
}
