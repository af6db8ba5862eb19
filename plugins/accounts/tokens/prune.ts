import { forEachTried } from '../../../src/core/each';
import { idText } from '../../../src/core/ids';
import { groupBy } from '../../../src/core/values';
import { batchesOf } from '../../../src/data/model/batches';
import type { Transaction } from '../../../src/data/writing/transaction';
import type { Host } from '../../../src/plugins/host';
import { tokenModel, type TokenDocument } from '../model';
import { tokenTarget } from './views';

/** How many tokens were deleted, and the first failure; it stops no other account. */
export interface Pruned {
  deleted: number;
  failure?: unknown;
}

/** Deletes expired tokens. */
export async function pruneTokens(host: Host): Promise<Pruned> {
  let deleted = 0;
  try {
    await forEachTried(expiredByAccount(host), async ([userId, expired]) => {
      deleted += await host.transact(userId, (tx) => remove(host, tx, expired));
    });
  } catch (failure) {
    return { deleted, failure };
  }
  return { deleted };
}

async function* expiredByAccount(host: Host): AsyncGenerator<[string, TokenDocument[]]> {
  const expired = host.model(tokenModel).find({ expiresAt: { $lte: new Date() } });
  for await (const batch of batchesOf<TokenDocument>(expired)) {
    yield* groupBy(batch, ({ userId }) => userId);
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
    tx.audit({ action: 'token.pruned', target: tokenTarget(idText(_id)), changes: { expiresAt } });
  }
  return found.length;
}
