import { randomBytes } from 'node:crypto';

import { hash, verify } from '@node-rs/argon2';
import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import pLimit from 'p-limit';

import { PageFault, type Sentence } from '../pages/texts';

const MIN_LENGTH = 12;
/** Longer passwords would cost argon2 too much time. */
const MAX_LENGTH = 1000;
/** How many passwords may wait in each queue: about a second's work. */
const MAX_WAITING = 20;
/** The minimum that OWASP recommends for argon2id. */
const COSTS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Longer ones would cost the estimate too much time. */
const MAX_ESTIMATED = 64;
/** Guesses that a password must withstand at least, as a power of ten. */
const MIN_GUESSES_LOG10 = 6.5;
/** Guessable here, besides what the dictionary lists. */
const WORDS = ['plantcare', 'motdepasse', 'passwort'];

let estimator: Promise<ZxcvbnFactory> | undefined;
/**
 * Each hash takes 19 MB and about 30 ms of a core: more than these two at once would block the API.
 * Those of people who are known here do not wait for strangers.
 */
const queues = { known: pLimit(1), stranger: pLimit(1) };
/** What is compared if an account has no password, so that it takes as long. */
const NOBODYS = `$argon2id$v=19$m=${COSTS.memoryCost},t=${COSTS.timeCost},p=${COSTS.parallelism}$${unpadded(16)}$${unpadded(32)}`;

/** `known` if the person has signed in with this browser before, or holds an invitation. */
export type Whose = keyof typeof queues;

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

/**
 * The hash of a password, with its salt and parameters.
 *
 * @throws PageFault if too many are waiting
 */
export function hashOfPassword(password: string, whose: Whose): Promise<string> {
  return queued(whose, () => hash(password.normalize('NFC'), COSTS));
}

/**
 * Whether a password is right; takes as long if there is none to compare with.
 *
 * @param stored finds the hash when the password's turn has come
 * @throws PageFault if too many are waiting
 */
export function isPassword(
  password: string,
  stored: () => Promise<string | undefined>,
  whose: Whose,
): Promise<boolean> {
  return queued(whose, async () => {
    const found = await stored();
    const isSame = await verify(found ?? NOBODYS, password.normalize('NFC'));
    return isSame && found !== undefined;
  });
}

async function queued<T>(whose: Whose, work: () => Promise<T>): Promise<T> {
  const queue = queues[whose];
  if (queue.pendingCount >= MAX_WAITING) throw new PageFault('busy', 503, 1);
  return queue(work);
}

function unpadded(bytes: number): string {
  return randomBytes(bytes).toString('base64').replace(/=+$/, '');
}
