import { hash, verify } from '@node-rs/argon2';
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import pLimit from 'p-limit';

import type { Sentence } from '../pages/texts';

const MIN_LENGTH = 12;
/** Longer passwords would cost argon2 too much time. */
const MAX_LENGTH = 1000;
/** Each takes 19 MB and about 30 ms of a core: more at once would block the API. */
const MAX_AT_ONCE = 2;
/** The minimum that OWASP recommends for argon2id. */
const COSTS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Longer ones would cost the estimate too much time. */
const MAX_ESTIMATED = 64;
/** Guesses that a password must withstand at least, as a power of ten. */
const MIN_GUESSES_LOG10 = 6.5;
/** Guessable here, besides what the dictionary lists. */
const WORDS = ['plantcare', 'motdepasse', 'passwort'];

let estimator: Promise<ZxcvbnFactory> | undefined;
const limited = pLimit(MAX_AT_ONCE);
/** The hash that is compared if an account has none, so that it takes as long. */
let nobody: Promise<string> | undefined;

/** Why a password is too weak for an account; undefined if it is not. */
export async function passwordFault(password: string, name: string): Promise<Sentence | undefined> {
  if (password.length < MIN_LENGTH) return 'tooShort';
  if (password.length > MAX_LENGTH) return 'tooLong';
  estimator ??= makeEstimator();
  const { guessesLog10 } = (await estimator).check(password, [name, ...WORDS]);
  return guessesLog10 < MIN_GUESSES_LOG10 ? 'tooCommon' : undefined;
}

/** Knows common passwords, their variants, keyboard patterns, sequences and repeats. Loading takes 0.2 s. */
async function makeEstimator(): Promise<ZxcvbnFactory> {
  const { ZxcvbnFactory } = await import('@zxcvbn-ts/core');
  const { adjacencyGraphs: graphs, dictionary } = await import('@zxcvbn-ts/language-common');
  return new ZxcvbnFactory({ dictionary, graphs, maxLength: MAX_ESTIMATED });
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
