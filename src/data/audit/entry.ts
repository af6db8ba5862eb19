import { createHash } from 'node:crypto';

import type { CallSource } from '../../core/identity';
import { canonicalJson } from '../../core/values';

/**
 * Who acts: the holder of a token, a person at the program's own pages, an operator on the command
 * line, or the server by itself.
 */
export type Actor =
  | { type: 'person'; account: string }
  | { type: 'token'; account: string; token: string }
  | { type: 'operator'; name: string; host: string }
  | { type: 'server'; host: string };

/** Who acts, and by which request where it was one. */
export interface Acting {
  actor: Actor;
  source?: CallSource | undefined;
}

/** What is recorded of an act, besides when and by whom. Never a secret, nor what people write. */
export interface Act {
  /** What it was done to and what was done: `token.created`. */
  action: string;
  target: { type: string; id: string };
  /** What changed, as JSON: `{ tier: { from: 'free', to: 'pro' } }`. */
  changes?: Readonly<Record<string, unknown>>;
}

/** An account as the target of an act. */
export function accountTarget(id: string): Act['target'] {
  return { type: 'account', id };
}

/** An entry of the audit log. */
export interface AuditEntry {
  /** Entries follow each other in one chain for each account, and one for the service. */
  chain: string;
  /** Its place in the chain, from 1. */
  seq: number;
  time: Date;
  action: string;
  actor: Actor;
  address: string | null;
  requestId: string | null;
  target: Act['target'];
  changes: Readonly<Record<string, unknown>>;
  previousHash: string;
  /** SHA-256 in hex of the JSON of all the rest, the members of each object sorted by name. */
  hash: string;
}

/** Where a chain ends: what its next entry follows on. */
export interface ChainEnd {
  seq: number;
  hash: string;
}

/** The end of a chain without entries. */
export const CHAIN_START: ChainEnd = { seq: 0, hash: '' };

/** The chain of what concerns no account. */
export const SERVICE_CHAIN = 'service';
const ACCOUNT_PREFIX = 'account/';

/** The chain of an account's acts, which outlives the account. */
export function chainOf(userId: string): string {
  return ACCOUNT_PREFIX + userId;
}

/** A chain as sentences name it. */
export function chainName(chain: string): string {
  return chain.startsWith(ACCOUNT_PREFIX)
    ? `account ${chain.slice(ACCOUNT_PREFIX.length)}`
    : `the ${chain}`;
}

/** The entry of an act that follows on `previous`. */
export function entryOf(
  chain: string,
  previous: ChainEnd,
  time: Date,
  { action, target, changes = {} }: Act,
  { actor, source }: Acting,
): AuditEntry {
  const content = {
    chain,
    time,
    action,
    actor,
    address: source?.address ?? null,
    requestId: source?.requestId ?? null,
    target,
    // As JSON has them, so that what is read back has the same hash.
    changes: JSON.parse(JSON.stringify(changes)) as Record<string, unknown>,
  };
  return linked(content, previous);
}

/** An entry with its place in the chain after `previous`. */
export function linked(
  entry: Omit<AuditEntry, 'seq' | 'previousHash' | 'hash'>,
  previous: ChainEnd,
): AuditEntry {
  const content = { ...entry, seq: previous.seq + 1, previousHash: previous.hash };
  return { ...content, hash: hashOf(content) };
}

/** The hash that an entry with this content must have. */
export function hashOf(content: object): string {
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}
