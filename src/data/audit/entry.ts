import { createHash } from 'node:crypto';

import type { Author, CallSource } from '../../core/identity';
import { canonicalJson } from '../../core/values';

/**
 * Who acts: the holder of a token, a person on the pages of the program, somebody who has a link to a
 * garden, an operator on the command line, or the server itself.
 */
export type Actor =
  // `garden` is the account in whose garden the person acts, unless it is their own.
  | { type: 'person'; account: string; garden?: string }
  | { type: 'token'; account: string; token: string; garden?: string }
  | { type: 'sitter'; member: string }
  | { type: 'operator'; name: string; host: string }
  | { type: 'server'; host: string };

/** The chain of an act on the data of an account: in another's garden, it is that of the actor. */
export function chainOf({ actor }: Acting, userId: string): string {
  const isGuest = 'garden' in actor && actor.garden !== undefined;
  return accountChain(isGuest ? actor.account : userId);
}

/** An actor, and the request that they sent, if any. */
export interface Acting {
  actor: Actor;
  source?: CallSource | undefined;
  /** Who it is to the owner of the garden, if it is another's. Not in the log, which has the account. */
  by?: Author | undefined;
}

/** An act. It never contains secrets, nor texts of people. */
export interface Act {
  /** The kind of target, and what was done: `token.created`. */
  action: string;
  target: { type: string; id: string };
  /** What changed, as JSON: `{ tier: { from: 'free', to: 'pro' } }`. */
  changes?: Readonly<Record<string, unknown>>;
}

export function accountTarget(id: string): Act['target'] {
  return { type: 'account', id };
}

/** An entry without its place in a chain. */
export interface EntryContent {
  time: Date;
  action: string;
  actor: Actor;
  address: string | null;
  requestId: string | null;
  target: Act['target'];
  changes: Readonly<Record<string, unknown>>;
}

export interface AuditEntry extends EntryContent {
  /** Each account has a chain of entries, and so does the service. */
  chain: string;
  /** The place in the chain, from 1. */
  seq: number;
  previousHash: string;
  /** SHA-256 in hex of the JSON of the rest, with the members of each object sorted by name. */
  hash: string;
}

/** The last entry of a chain. */
export interface ChainEnd {
  seq: number;
  hash: string;
}

/** The end of a chain without entries. */
export const CHAIN_START: ChainEnd = { seq: 0, hash: '' };

/** The chain of acts that concern no account. */
export const SERVICE_CHAIN = 'service';
const ACCOUNT_PREFIX = 'account/';

/** The chain of an account, which outlives it. */
export function accountChain(userId: string): string {
  return ACCOUNT_PREFIX + userId;
}

/** The account of a chain; undefined for the chain of the service. */
export function accountOfChain(chain: string): string | undefined {
  return chain.startsWith(ACCOUNT_PREFIX) ? chain.slice(ACCOUNT_PREFIX.length) : undefined;
}

/** The name of a chain in a sentence. */
export function chainName(chain: string): string {
  const userId = accountOfChain(chain);
  return userId === undefined ? `the ${chain}` : `account ${userId}`;
}

/** The entry of an act. */
export function contentOf(
  time: Date,
  { action, target, changes = {} }: Act,
  { actor, source }: Acting,
): EntryContent {
  return {
    time,
    action,
    actor,
    target,
    address: source?.address ?? null,
    requestId: source?.requestId ?? null,
    // As JSON, so that the hash is the same when it is read back.
    changes: JSON.parse(JSON.stringify(changes)) as Record<string, unknown>,
  };
}

/** An entry with its place in a chain after `previous`. */
export function linked(chain: string, content: EntryContent, previous: ChainEnd): AuditEntry {
  const placed = { ...content, chain, seq: previous.seq + 1, previousHash: previous.hash };
  return { ...placed, hash: hashOf(placed) };
}

export function hashOf(content: object): string {
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}
