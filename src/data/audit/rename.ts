import type { ClientSession, Model } from 'mongoose';

import { ChainChecker } from './chain-checker';
import { type AuditEntry, CHAIN_START, chainOf, linked } from './entry';
import { type AuditEntryDocument, type AuditHeadDocument, entryDocument, entryIn } from './model';

/** How many entries one transaction moves. */
const CHUNK = 1000;

interface Chains {
  entries: Model<AuditEntryDocument>;
  heads: Model<AuditHeadDocument>;
  session: ClientSession;
}

/**
 * Moves the oldest entries of an account to the chain of a pseudonym, and replaces the account's id in
 * them. A chain that does not verify is left as it is, for `audit verify` to find.
 *
 * @returns whether none are left to move
 */
export async function renameSome(
  { entries, heads, session }: Chains,
  userId: string,
  pseudonym: string,
): Promise<boolean> {
  const [from, to] = [chainOf(userId), chainOf(pseudonym)];
  const head = await heads.findOne({ _id: from }).session(session).lean();
  const oldest = entries.find({ chain: from }).session(session).sort({ seq: 1 }).limit(CHUNK);
  const found = (await oldest.lean()).map(entryIn);
  const last = found.at(-1);
  if (!head || !last) return true;
  const isDone = found.length < CHUNK;
  const checker = new ChainChecker(head);
  for (const entry of found) checker.add(entry);
  if (isDone) checker.end(head);
  if (checker.faults.length > 0) return true;
  const end = (await heads.findOne({ _id: to }).session(session).lean()) ?? CHAIN_START;
  const renamed: AuditEntry[] = [];
  for (const entry of found) {
    const content = { ...withName(entry, userId, pseudonym), chain: to };
    renamed.push(linked(content, renamed.at(-1) ?? end));
  }
  const writes = renamed.map((entry) => ({ insertOne: { document: entryDocument(entry) } }));
  await entries.bulkWrite(writes, { session });
  const { seq, hash } = renamed.at(-1) ?? end;
  const update = { $set: { seq, hash }, $setOnInsert: { pruned: null } };
  await heads.updateOne({ _id: to }, update, { session, upsert: true });
  await entries.deleteMany({ chain: from, seq: { $lte: last.seq } }, { session });
  // The rest verifies as if the moved entries had been pruned.
  const pruned = { count: last.seq, seq: last.seq, hash: last.hash, until: new Date(0) };
  if (isDone) await heads.deleteOne({ _id: from }, { session });
  else await heads.updateOne({ _id: from }, { $set: { pruned } }, { session });
  return isDone;
}

function withName({ hash: _old, ...entry }: AuditEntry, userId: string, pseudonym: string) {
  const { actor, target } = entry;
  return {
    ...entry,
    actor: 'account' in actor && actor.account === userId ? { ...actor, account: pseudonym } : actor,
    target: target.type === 'account' && target.id === userId ? { ...target, id: pseudonym } : target,
  };
}
