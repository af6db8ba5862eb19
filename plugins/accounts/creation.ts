import type { SharedTransaction } from '../../src/data/audit/audit-log';
import { accountTarget, type Acting } from '../../src/data/audit/entry';
import type { Host } from '../../src/plugins/host';
import type { AccountChanges } from './changes';
import { accountModel, newTokensVersion } from './model';

export interface NewAccount extends AccountChanges {
  userId: string;
}

/** Creates accounts unless they exist; returns how many. */
export async function insertMissing(
  host: Host,
  tx: SharedTransaction,
  wanted: readonly NewAccount[],
  acting?: Acting,
): Promise<number> {
  const { session, now } = tx;
  // Otherwise the first write to each account would count its records.
  const usage = Object.fromEntries(host.quotas.names.sort().map((name) => [name, 0]));
  const documents = wanted.map(({ userId, tier = 'free', timezone = 'UTC', tierUntil }) => {
    const shown = { tier, ...(tierUntil ? { tierUntil } : {}), timezone };
    return { userId, shown };
  });
  const writes = documents.map(({ userId, shown }) => {
    const empty = { revision: 0, usage, createdAt: now, updatedAt: now };
    // A process may remember tokens of a deleted account of this id.
    const tokensVersion = newTokensVersion();
    const update = { $setOnInsert: { ...shown, ...empty, tokensVersion } };
    return { updateOne: { filter: { _id: userId }, update, upsert: true } };
  });
  const { upsertedIds } = await host.model(accountModel).bulkWrite(writes, { session });
  const made = documents.filter((_document, index) => index in upsertedIds);
  for (const { userId, shown } of made) {
    const act = { action: 'account.created', target: accountTarget(userId), changes: shown };
    tx.audit(act, userId, acting);
  }
  return made.length;
}
