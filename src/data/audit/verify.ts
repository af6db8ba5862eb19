import type { Model } from 'mongoose';

import { batchesOf } from '../model/batches';
import type { Database } from '../mongodb/database';
import { ChainChecker } from './chain-checker';
import { SERVICE_CHAIN } from './entry';
import { chunksOf } from '../../core/values';
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
/** Entries fetched by a command. */
const FETCHED = 1000;
/** Chains verified together. */
const TOGETHER = 200;
const MAX_FAULTS = 1000;

/** Verifies all chains, while the service may be running. */
export async function verifyChains(
  database: Database,
  entries: Model<AuditEntryDocument>,
  heads: Model<AuditHeadDocument>,
  onChains: (verified: number, total: number) => void = () => undefined,
): Promise<Verification> {
  const found: Verification = { chains: 0, entries: 0, pruned: 0, faults: [] };
  /** Verifies chains; returns those to verify again, since they were pruned or renamed meanwhile. */
  const check = async (chains: readonly string[]): Promise<string[]> => {
    const first = byChain(await heads.find({ _id: { $in: chains } }).lean());
    const newest = (chain: string): number => first.get(chain)?.seq ?? Infinity;
    const checkers = new Map(chains.map((id) => [id, new ChainChecker(first.get(id))]));
    const add = (entry: AuditEntryDocument): void => checkers.get(entry.chain)?.add(entryIn(entry));
    // Without a transaction, which would time out on a long chain; old entries do not change.
    const known = entries.find({ chain: { $in: chains } }).sort({ chain: 1, seq: 1 });
    for await (const batch of batchesOf<AuditEntryDocument>(known, FETCHED)) {
      for (const entry of batch) {
        const isLater = Number.isFinite(entry.seq) && entry.seq > newest(entry.chain);
        if (!isLater) add(entry);
      }
    }
    const later = chains.map((chain) => ({ chain, seq: { $gt: newest(chain) } }));
    const last = await database.snapshot(async (session) => {
      const ends = await heads
        .find({ _id: { $in: chains } })
        .session(session)
        .lean();
      const added = entries.find({ $or: later }).session(session).sort({ chain: 1, seq: 1 });
      return { heads: byChain(ends), added: await added.lean() };
    });
    last.added.forEach(add);
    const moved: string[] = [];
    for (const [chain, checker] of checkers) {
      const [before, head] = [first.get(chain), last.heads.get(chain)];
      checker.end(head);
      // Entries pruned or renamed meanwhile would look removed.
      const isMoved = before?.pruned?.seq !== head?.pruned?.seq || !before !== !head;
      if (isMoved) moved.push(chain);
      else if (head !== undefined || checker.count > 0) count(chain, checker, head);
    }
    return moved;
  };
  const count = (chain: string, checker: ChainChecker, head?: AuditHeadDocument): void => {
    found.chains += 1;
    found.entries += checker.count;
    found.pruned += head?.pruned?.count ?? 0;
    const left = MAX_FAULTS - found.faults.length;
    found.faults.push(...checker.faults.slice(0, left).map((fault) => ({ chain, fault })));
  };
  const checkAll = async (chains: readonly string[]): Promise<void> => {
    for (let left = chains; left.length > 0;) left = await check(left);
  };
  const total = await heads.estimatedDocumentCount();
  for await (const batch of batchesOf<AuditHeadDocument>(heads.find())) {
    await checkAll(batch.map(({ _id }) => _id));
    onChains(batch.length, total);
  }
  for await (const chains of chainsIn(entries)) {
    const known = await heads
      .find({ _id: { $in: chains } })
      .select('_id')
      .lean();
    const ids = new Set(known.map(({ _id }) => _id));
    const headless = chains.filter((id) => !ids.has(id));
    for (const chunk of chunksOf(headless, TOGETHER)) await checkAll(chunk);
  }
  const unchained = await entries.countDocuments({ chain: { $not: { $gt: '' } } });
  found.entries += unchained;
  if (unchained > 0) {
    const fault = `entries of no chain were inserted, or altered (${unchained})`;
    found.faults.push({ chain: SERVICE_CHAIN, fault });
  }
  return found;
}

function byChain(heads: readonly AuditHeadDocument[]): Map<string, AuditHeadDocument> {
  return new Map(heads.map((head) => [head._id, head]));
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
