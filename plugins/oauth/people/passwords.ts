import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';

import type { Sentence } from '../pages/texts';

const MIN_LENGTH = 12;
/** Longer passwords would cost argon2 too much time. */
const MAX_LENGTH = 1000;
/** Each takes 19 MB and about 30 ms of a core: more at once would block the API. */
const MAX_AT_ONCE = 2;
/** The minimum that OWASP recommends for argon2id. */
const COSTS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Words that most guessable passwords of this length consist of. */
const COMMON =
  /pass(?:word|wort|e)?|motdepasse|qwerty(?:uiop)?|azerty(?:uiop)?|admin(?:istrator)?|welcome|bienvenue|letmein|iloveyou|jetaime|login|secret|test(?:ing)?|changeme|default|plantcare|plants?|garden|dragon|monkey|football|princess|sunshine|superman|trustno/g;
/** Sequences of keys and letters. */
const RUNS = [
  'zyxwvutsrqponmlkjihgfedcba',
  '98765432109876543210',
  'mnbvcxzlkjhgfdsapoiuytrewq',
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiopasdfghjklzxcvbnm',
];

const limited = pLimit(MAX_AT_ONCE);
/** The hash that is compared if an account has none, so that it takes as long. */
let nobody: Promise<string> | undefined;

/** Why a password is too weak for an account; undefined if it is not. */
export function passwordFault(password: string, name: string): Sentence | undefined {
  if (password.length < MIN_LENGTH) return 'tooShort';
  if (password.length > MAX_LENGTH) return 'tooLong';
  return isCommon(password.toLowerCase(), name.toLowerCase()) ? 'tooCommon' : undefined;
}

function isCommon(password: string, name: string): boolean {
  const withoutName = name.length > 2 ? password.replaceAll(name, '') : password;
  const letters = withoutName.replace(/[^a-z]/g, '');
  // A short piece that is repeated.
  if (/^(.{1,4})\1+.{0,3}$/.test(password)) return true;
  // Common words with digits and signs, or little beside the name.
  const isWords = letters !== '' && letters.replace(COMMON, '') === '';
  if (isWords || withoutName.length < MIN_LENGTH / 2) return true;
  return RUNS.some((run) => (run + run).includes(password));
}

/** The hash of a password, with its salt and parameters. */
export function hashOfPassword(password: string): Promise<string> {
  return limited(() => hash(password.normalize('NFC'), COSTS));
}

/** Whether a password matches a hash; takes as long if there is none. */
export async function isPassword(stored: string | undefined, password: string): Promise<boolean> {
  nobody ??= hashOfPassword('nobody has this password');
  const compared = stored ?? (await nobody);
  const isSame = await limited(() => verify(compared, password.normalize('NFC')));
  return isSame && stored !== undefined;
}
