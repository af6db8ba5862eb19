import { readFile } from 'node:fs/promises';

import { OperatorError } from '../../../src/core/errors';
import { TIERS, type Tier } from '../../../src/core/identity';
import { newUserNameFault } from '../../../src/core/text/names';
import { reasonOf } from '../../../src/core/values';

/** More users take several runs. */
const MAX_USERS = 100_000;
/** How many faults are listed; a file in another format has one on each line. */
const MAX_FAULTS = 20;

/** A user in a list. */
export interface ListedUser {
  userId: string;
  tier: Tier | undefined;
}

/** A field, quoted or not; quotes in it are doubled (RFC 4180). */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",]*))/.source;
const LINE = new RegExp(`^${FIELD}(?:,${FIELD})?$`);

/**
 * Reads users from a CSV file, with a name and optionally a tier on each line, after an optional header.
 *
 * @throws OperatorError that lists the invalid lines
 */
export async function readUsers(file: string): Promise<ListedUser[]> {
  const faults: string[] = [];
  const lineOf = new Map<string, number>();
  const users: ListedUser[] = [];
  for (const [index, line] of (await linesOf(file)).entries()) {
    const number = index + 1;
    if (line === '' || (number === 1 && /^"?name"?,"?tier"?$/i.test(line))) continue;
    const user = userOf(line);
    if (typeof user === 'string') {
      faults.push(`Line ${number}: ${user}`);
      continue;
    }
    const earlier = lineOf.get(user.userId);
    if (earlier !== undefined)
      faults.push(`Line ${number}: the name is already on line ${earlier}.`);
    lineOf.set(user.userId, earlier ?? number);
    users.push(user);
  }
  if (users.length > MAX_USERS) faults.unshift(`There are more than ${MAX_USERS} users.`);
  if (users.length === 0 && faults.length === 0) faults.push('It lists no users.');
  if (faults.length === 0) return users;
  const more = faults.length - MAX_FAULTS;
  const also = more > 0 ? [`And ${more} more.`] : [];
  const listed = [...faults.slice(0, MAX_FAULTS), ...also].join('\n');
  throw new OperatorError(`${file} is invalid; no tokens were created.\n${listed}`);
}

async function linesOf(file: string): Promise<string[]> {
  try {
    // Skips a byte order mark, and refuses what is not UTF-8.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
    return text.split(/\r\n|[\r\n]/);
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not text in UTF-8' : reasonOf(error);
    throw new OperatorError(`${file} cannot be read: ${reason}.`);
  }
}

/** The user on a line, or what is wrong with the line. */
function userOf(line: string): ListedUser | string {
  const match = LINE.exec(line);
  if (!match || /[;\t]/.test(match[2] ?? '')) return 'it must be a name, a comma and a tier.';
  const [name, tier] = [valueOf(match[1], match[2]), valueOf(match[3], match[4])];
  const fault = newUserNameFault(name);
  if (fault !== undefined) return `the name ${fault}.`;
  const known = TIERS.find((each) => each === tier);
  if (tier !== '' && known === undefined) return `the tier must be ${TIERS.join(' or ')}.`;
  return { userId: name, tier: known };
}

function valueOf(quoted: string | undefined, plain: string | undefined): string {
  return quoted?.replaceAll('""', '"') ?? plain ?? '';
}
