import type { ClientSession, Model } from 'mongoose';

import { ChainChecker } from './chain-checker';
import { type AuditEntryDocument, type AuditHeadDocument, entryIn } from './model';

/** Entries deleted in one transaction. */
const CHUNK = 1000;

interface Chains {
  entries: Model<AuditEntryDocument>;
  heads: Model<AuditHeadDocument>;
  session: ClientSession;
}

/**
 * Deletes entries of a chain that are older than `before`, and records in its head what is needed to
 * verify the rest. A chain with a fault is left as it is.
 *
 * @returns whether it is done
 */
export async function pruneChain(
  { entries, heads, session }: Chains,
  chain: string,
  before: Date,
): Promise<boolean> {
  const head = await heads.findOne({ _id: chain }).session(session).lean();
  const oldest = entries.find({ chain }).session(session).sort({ seq: 1 });
  const first = await oldest.limit(CHUNK).lean();
  const kept = first.findIndex(({ time }) => time >= before);
  const old = kept < 0 ? first : first.slice(0, kept);
  const last = old.at(-1);
  if (!head || !last) return true;
  const checker = new ChainChecker(head);
  for (const entry of old) checker.add(entryIn(entry));
  if (checker.faults.length > 0) return true;
  const count = (head.pruned?.count ?? 0) + old.length;
  const pruned = { count, seq: last.seq, hash: last.hash, until: last.time };
  await heads.updateOne({ _id: chain }, { $set: { pruned } }, { session });
  await entries.deleteMany({ chain, seq: { $lte: last.seq } }, { session });
  return old.length < CHUNK;
}
