import { hash, verify } from '@node-rs/argon2';
import pLimit from 'p-limit';

import type { Sentence } from '../pages/texts';

const MIN_LENGTH = 12;
/** What anybody types; argon2 takes any length, and its time. */
const MAX_LENGTH = 1000;
/** Each takes 19 MB and some 30 ms of a core: more at once would keep the API waiting. */
const MAX_AT_ONCE = 2;
/** OWASP's least costs of argon2id. */
const COSTS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The words that most guessable passwords of this length are made of. */
const COMMON =
  /^(?:pass(?:word|wort|e)?|mot ?de ?passe|motdepasse|qwerty(?:uiop)?|azerty(?:uiop)?|admin(?:istrator)?|welcome|bienvenue|letmein|iloveyou|jetaime|login|secret|test(?:ing)?|changeme|default|plants?|garden|plantcare|dragon|monkey|football|princess|sunshine|superman|trustno)+$/;
/** Runs of keys and of the alphabet. */
const RUNS = [
  'zyxwvutsrqponmlkjihgfedcba',
  '98765432109876543210',
  'mnbvcxzlkjhgfdsapoiuytrewq',
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiopasdfghjklzxcvbnm',
];

const limited = pLimit(MAX_AT_ONCE);
/** What is compared where nobody has the name, so that it takes as long. */
let nobody: Promise<string> | undefined;

/** Why a password is not good enough for an account; undefined where it is. */
export function passwordFault(password: string, name: string): Sentence | undefined {
  if (password.length < MIN_LENGTH) return 'tooShort';
  if (password.length > MAX_LENGTH) return 'tooLong';
  return isCommon(password.toLowerCase(), name.toLowerCase()) ? 'tooCommon' : undefined;
}

function isCommon(password: string, name: string): boolean {
  const withoutName = name.length > 2 ? password.replaceAll(name, '') : password;
  const letters = withoutName.replace(/[^a-z]/g, '');
  // A short piece repeated, such as of one character.
  if (/^(.{1,4})\1+.{0,3}$/.test(password)) return true;
  // A word of the list with digits and signs around it, or the name alone.
  if (COMMON.test(letters) || withoutName.length < MIN_LENGTH / 2) return true;
  return RUNS.some((run) => (run + run).includes(password));
}

/** What is stored of a password. */
export function hashOfPassword(password: string): Promise<string> {
  return limited(() => hash(password.normalize('NFC'), COSTS));
}

/** Whether a password is the one that is stored; where none is, it takes as long to say no. */
export async function isPassword(stored: string | undefined, password: string): Promise<boolean> {
  nobody ??= hashOfPassword('nobody has this password');
  const compared = stored ?? (await nobody);
  const isSame = await limited(() => verify(compared, password.normalize('NFC')));
  return isSame && stored !== undefined;
}
