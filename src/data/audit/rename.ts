import type { ClientSession, Model } from 'mongoose';

import { batchesOf } from '../model/batches';
import { ChainChecker } from './chain-checker';
import { type AuditEntry, CHAIN_START, type ChainEnd, chainOf, linked } from './entry';
import { type AuditEntryDocument, type AuditHeadDocument, entryDocument, entryIn } from './model';

interface Chains {
  entries: Model<AuditEntryDocument>;
  heads: Model<AuditHeadDocument>;
  session: ClientSession;
}

/**
 * Moves the entries of an account to the chain of a pseudonym, with the pseudonym wherever they name
 * the account. A chain that does not verify is left as it is, for `audit verify` to find.
 */
export async function renameAccount(
  { entries, heads, session }: Chains,
  userId: string,
  pseudonym: string,
): Promise<void> {
  const [from, to] = [chainOf(userId), chainOf(pseudonym)];
  const stored = () => batchesOf(entries.find({ chain: from }).session(session).sort({ seq: 1 }));
  const head = (await heads.findOne({ _id: from }).session(session).lean()) ?? undefined;
  const checker = new ChainChecker(head);
  for await (const batch of stored()) for (const each of batch) checker.add(entryIn(each));
  checker.end(head);
  if (checker.faults.length > 0) return;
  let end: ChainEnd = (await heads.findOne({ _id: to }).session(session).lean()) ?? CHAIN_START;
  for await (const batch of stored()) {
    const renamed: AuditEntry[] = [];
    for (const each of batch) {
      const entry = withName(entryIn(each), userId, pseudonym);
      renamed.push(linked({ ...entry, chain: to }, renamed.at(-1) ?? end));
    }
    end = renamed.at(-1) ?? end;
    const writes = renamed.map((entry) => ({ insertOne: { document: entryDocument(entry) } }));
    await entries.bulkWrite(writes, { session });
  }
  const { seq, hash } = end;
  const update = { $set: { seq, hash }, $setOnInsert: { pruned: null } };
  await heads.updateOne({ _id: to }, update, { session, upsert: true });
  await entries.deleteMany({ chain: from }, { session });
  await heads.deleteOne({ _id: from }, { session });
}

function withName({ hash: _old, ...entry }: AuditEntry, userId: string, pseudonym: string) {
  const { actor, target } = entry;
  return {
    ...entry,
    actor: 'account' in actor && actor.account === userId ? { ...actor, account: pseudonym } : actor,
    target: target.type === 'account' && target.id === userId ? { ...target, id: pseudonym } : target,
  };
}
