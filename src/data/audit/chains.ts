import type { ClientSession, Model } from 'mongoose';

import { ChainChecker } from './chain-checker';
import {
  type AuditEntry,
  CHAIN_START,
  type ChainEnd,
  accountChain,
  type EntryContent,
  linked,
} from './entry';
import { type AuditEntryDocument, type AuditHeadDocument, entryDocument, entryIn } from './model';

/** Entries that one transaction moves or deletes. */
const CHUNK = 1000;

/** The chains of entries in a transaction. */
interface Chains {
  entries: Model<AuditEntryDocument>;
  heads: Model<AuditHeadDocument>;
  session: ClientSession;
}

/** Appends entries to chains. Transactions that append to the same chain conflict on its head. */
export async function append(
  { entries, heads, session }: Chains,
  contents: ReadonlyMap<string, readonly EntryContent[]>,
): Promise<void> {
  if (contents.size === 0) return;
  const [first = '', ...more] = contents.keys();
  // One alone determines its shard.
  const _id = more.length === 0 ? first : { $in: [first, ...more] };
  const found = await heads.find({ _id }).session(session).lean();
  const ends = new Map<string, ChainEnd>(found.map((head) => [head._id, head]));
  const added: AuditEntry[] = [];
  for (const [chain, list] of contents) {
    for (const content of list) {
      const entry = linked(chain, content, ends.get(chain) ?? CHAIN_START);
      ends.set(chain, entry);
      added.push(entry);
    }
  }
  const moves = [...ends].map(([chain, { seq, hash }]) => {
    const update = { $set: { seq, hash }, $setOnInsert: { pruned: null } };
    return { updateOne: { filter: { _id: chain }, update, upsert: true } };
  });
  await heads.bulkWrite(moves, { session });
  const writes = added.map((entry) => ({ insertOne: { document: entryDocument(entry) } }));
  await entries.bulkWrite(writes, { session });
}

/**
 * Moves the oldest entries of an account to the chain of a pseudonym, and replaces the account's id in
 * them. A chain that does not verify is left as it is, for `audit verify` to find.
 *
 * @returns whether none are left to move
 */
export async function renameSome(
  chains: Chains,
  userId: string,
  pseudonym: string,
): Promise<boolean> {
  const { entries, heads, session } = chains;
  const from = accountChain(userId);
  const oldest = await oldestOf(chains, from);
  if (!oldest) return true;
  const { old, last, isDone } = oldest;
  const renamed = old.map((entry) => withName(entry, userId, pseudonym));
  await append(chains, new Map([[accountChain(pseudonym), renamed]]));
  await entries.deleteMany({ chain: from, seq: { $lte: last.seq } }, { session });
  // The rest verifies as if the moved entries had been pruned.
  const pruned = { count: last.seq, seq: last.seq, hash: last.hash, until: new Date(0) };
  if (isDone) await heads.deleteOne({ _id: from }, { session });
  else await heads.updateOne({ _id: from }, { $set: { pruned } }, { session });
  return isDone;
}

/**
 * Deletes entries of a chain that are older than `before`, and records in its head what is needed to
 * verify the rest. A chain with a fault is left as it is.
 *
 * @returns whether it is done
 */
export async function pruneChain(chains: Chains, chain: string, before: Date): Promise<boolean> {
  const { entries, heads, session } = chains;
  const oldest = await oldestOf(chains, chain, before);
  if (!oldest) return true;
  const { head, old, last, isDone } = oldest;
  const count = (head.pruned?.count ?? 0) + old.length;
  const pruned = { count, seq: last.seq, hash: last.hash, until: last.time };
  await heads.updateOne({ _id: chain }, { $set: { pruned } }, { session });
  await entries.deleteMany({ chain, seq: { $lte: last.seq } }, { session });
  return isDone;
}

/**
 * The oldest entries of a chain, or those before a moment, up to a chunk; undefined if there are none or
 * they do not verify.
 */
async function oldestOf({ entries, heads, session }: Chains, chain: string, before?: Date) {
  const head = await heads.findOne({ _id: chain }).session(session).lean();
  const found = entries.find({ chain }).session(session).sort({ seq: 1 }).limit(CHUNK);
  const first = (await found.lean()).map(entryIn);
  const kept = before ? first.findIndex(({ time }) => time >= before) : -1;
  const old = kept < 0 ? first : first.slice(0, kept);
  const last = old.at(-1);
  if (!head || !last) return undefined;
  const isDone = old.length < CHUNK;
  const checker = new ChainChecker(head);
  for (const entry of old) checker.add(entry);
  if (isDone && kept < 0) checker.end(head);
  return checker.faults.length === 0 ? { head, old, last, isDone } : undefined;
}

function withName(entry: AuditEntry, userId: string, pseudonym: string): EntryContent {
  const { time, action, actor, address, requestId, target, changes } = entry;
  return {
    time,
    action,
    address,
    requestId,
    changes,
    actor:
      'account' in actor && actor.account === userId ? { ...actor, account: pseudonym } : actor,
    target:
      target.type === 'account' && target.id === userId ? { ...target, id: pseudonym } : target,
  };
}
