import type { ClientSession } from 'mongoose';

import type { SharedTenant } from '../models';
import type { Records } from '../records';
import { ChainChecker } from './chain-checker';
import { type AuditEntryDocument, type AuditHeadDocument, entryIn } from './model';

/** Entries deleted in one transaction. */
const CHUNK = 1000;

interface Chains {
  entries: Records<AuditEntryDocument, SharedTenant>;
  heads: Records<AuditHeadDocument, SharedTenant>;
  session: ClientSession;
}

/**
 * Deletes the first entries of a chain as far as they are older than `before`, and keeps in its head
 * what the rest is verified by. A chain that does not verify is left as it is, for `audit verify`
 * to find.
 *
 * @returns whether there is nothing more to delete
 */
export async function pruneChain(
  { entries, heads, session }: Chains,
  chain: string,
  before: Date,
): Promise<boolean> {
  const head = await heads.findOne({ session }, { _id: chain });
  const first = await entries.find({ session }, { chain }, { sort: { seq: 1 }, limit: CHUNK });
  const kept = first.findIndex(({ time }) => time >= before);
  const old = kept < 0 ? first : first.slice(0, kept);
  const last = old.at(-1);
  if (!head || !last) return true;
  const checker = new ChainChecker(head);
  for (const entry of old) checker.add(entryIn(entry));
  if (checker.faults.length > 0) return true;
  const count = (head.pruned?.count ?? 0) + old.length;
  const pruned = { count, seq: last.seq, hash: last.hash, until: last.time };
  await heads.updateOne({ session }, { _id: chain }, { $set: { pruned } });
  await entries.deleteMany({ session }, { chain, seq: { $lte: last.seq } });
  return old.length < CHUNK;
}
