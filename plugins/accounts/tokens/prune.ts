import { idText } from '../../../src/core/ids';
import type { Transaction } from '../../../src/data/writing/transaction';
import type { Host } from '../../../src/plugins/host';
import { tokenModel, type TokenDocument } from '../model';
import { targetOf } from './views';

/** Expired tokens deleted at a time. */
const CHUNK = 1000;

/** Deletes expired tokens; returns how many. */
export async function pruneTokens(host: Host): Promise<number> {
  const tokens = host.model(tokenModel);
  let deleted = 0;
  for (;;) {
    const found = tokens.find({ expiresAt: { $lte: new Date() } });
    const expired = await found.limit(CHUNK).lean();
    if (expired.length === 0) return deleted;
    for (const userId of new Set(expired.map((token) => token.userId))) {
      const own = expired.filter((token) => token.userId === userId);
      deleted += await host.transact(userId, (tx) => remove(host, tx, own));
    }
  }
}

/**
 * Deletes tokens that no other prune has deleted; returns how many. Processes that remember an expired
 * token refuse it by its expiry.
 */
async function remove(
  host: Host,
  tx: Transaction,
  expired: readonly TokenDocument[],
): Promise<number> {
  const { session } = tx;
  const tokens = host.model(tokenModel);
  const filter = { _id: { $in: expired.map(({ _id }) => _id) } };
  const found = await tokens.find(filter).session(session).lean();
  await tokens.deleteMany(filter, { session });
  for (const { _id, expiresAt } of found) {
    tx.audit({ action: 'token.pruned', target: targetOf(idText(_id)), changes: { expiresAt } });
  }
  return found.length;
}
