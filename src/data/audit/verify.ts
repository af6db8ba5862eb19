import type { Model } from 'mongoose';

import { batchesOf } from '../model/batches';
import type { Database } from '../mongodb/database';
import { ChainChecker } from './chain-checker';
import { SERVICE_CHAIN } from './entry';
import { type AuditEntryDocument, type AuditHeadDocument, entryIn } from './model';

export interface Verification {
  chains: number;
  entries: number;
  /** Entries that were pruned. */
  pruned: number;
  /** What is wrong with a chain, a sentence each. */
  faults: { chain: string; fault: string }[];
}

/** Entries scanned by a command. */
const SCANNED = 10_000;
const MAX_FAULTS = 1000;

/** Verifies all chains, while the service may be running. */
export async function verifyChains(
  database: Database,
  entries: Model<AuditEntryDocument>,
  heads: Model<AuditHeadDocument>,
): Promise<Verification> {
  const found: Verification = { chains: 0, entries: 0, pruned: 0, faults: [] };
  const check = async (chain: string): Promise<void> => {
    let first: AuditHeadDocument | null;
    let last: AuditHeadDocument | null;
    let checker: ChainChecker;
    do {
      first = await heads.findOne({ _id: chain }).lean();
      const newest = first?.seq ?? Infinity;
      const read = new ChainChecker(first ?? undefined);
      // Without a transaction, which would time out on a long chain; old entries do not change.
      const known = entries.find({ chain, seq: { $not: { $gt: newest } } }).sort({ seq: 1 });
      for await (const batch of batchesOf<AuditEntryDocument>(known)) {
        for (const entry of batch) read.add(entryIn(entry));
      }
      const end = await database.snapshot(async (session) => ({
        head: await heads.findOne({ _id: chain }).session(session).lean(),
        added: await entries
          .find({ chain, seq: { $gt: newest } })
          .session(session)
          .sort({ seq: 1 })
          .lean(),
      }));
      for (const entry of end.added) read.add(entryIn(entry));
      read.end(end.head ?? undefined);
      [checker, last] = [read, end.head];
      // Entries pruned or renamed meanwhile would look removed.
    } while (first?.pruned?.seq !== last?.pruned?.seq || (first && !last));
    if (!last && checker.count === 0) return;
    found.chains += 1;
    found.entries += checker.count;
    found.pruned += last?.pruned?.count ?? 0;
    const left = MAX_FAULTS - found.faults.length;
    found.faults.push(...checker.faults.slice(0, left).map((fault) => ({ chain, fault })));
  };
  for await (const batch of batchesOf<AuditHeadDocument>(heads.find())) {
    for (const { _id } of batch) await check(_id);
  }
  for await (const chains of chainsIn(entries)) {
    const known = await heads
      .find({ _id: { $in: chains } })
      .select('_id')
      .lean();
    const ids = new Set(known.map(({ _id }) => _id));
    for (const chain of chains.filter((id) => !ids.has(id))) await check(chain);
  }
  const unchained = await entries.countDocuments({ chain: { $not: { $gt: '' } } });
  found.entries += unchained;
  if (unchained > 0) {
    const fault = `entries of no chain were inserted, or altered (${unchained})`;
    found.faults.push({ chain: SERVICE_CHAIN, fault });
  }
  return found;
}

/** The chains of all entries, in batches. */
async function* chainsIn(entries: Model<AuditEntryDocument>): AsyncGenerator<string[]> {
  for (let after: string | undefined = ''; after !== undefined;) {
    const found = await entries.aggregate<{ _id: string }>([
      { $match: { chain: { $gt: after } } },
      { $sort: { chain: 1 } },
      { $limit: SCANNED },
      { $group: { _id: '$chain' } },
      { $sort: { _id: 1 } },
    ]);
    const chains: string[] = found.map(({ _id }) => _id);
    if (chains.length > 0) yield chains;
    after = chains.at(-1);
  }
}
