import type { Database } from '../database';
import { collectionOf, type SharedScope } from '../models';
import type { Records } from '../records';
import { ChainChecker } from './chain-checker';
import { type AuditEntryDocument, type AuditHeadDocument, auditHeadModel, entryIn } from './model';

/** What is wrong with a chain, in a sentence. */
interface AuditFault {
  chain: string;
  fault: string;
}

/** What was found of all chains. */
export interface Verification {
  chains: number;
  /** How many entries are there. */
  entries: number;
  /** How many were deleted because they were old. */
  pruned: number;
  faults: AuditFault[];
}

/** More would only be more of the same. */
const MAX_FAULTS = 1000;

/** Checks every chain as it is at one moment, so that it can be done while the service runs. */
export async function verifyChains(
  database: Database,
  entries: Records<AuditEntryDocument, SharedScope>,
  heads: Records<AuditHeadDocument, SharedScope>,
): Promise<Verification> {
  const found: Verification = { chains: 0, entries: 0, pruned: 0, faults: [] };
  const check = async (chain: string): Promise<void> => {
    const checked = await database.snapshot(async (session) => {
      const head = await heads.findOne({ session }, { _id: chain });
      const checker = new ChainChecker(head);
      const batches = entries.batches({ session }, { chain }, { sort: { seq: 1 } });
      for await (const batch of batches) for (const entry of batch) checker.add(entryIn(entry));
      checker.end();
      return { checker, pruned: head?.pruned?.count ?? 0 };
    });
    found.chains += 1;
    found.entries += checked.checker.count;
    found.pruned += checked.pruned;
    const left = MAX_FAULTS - found.faults.length;
    found.faults.push(...checked.checker.faults.slice(0, left).map((fault) => ({ chain, fault })));
  };
  for await (const batch of heads.batches({}, {})) for (const { _id } of batch) await check(_id);
  const from = collectionOf(auditHeadModel);
  const withoutHead = entries.aggregate<{ _id: string }>({}, {}, [
    { $group: { _id: '$chain' } },
    { $lookup: { from, localField: '_id', foreignField: '_id', as: 'heads' } },
    { $match: { heads: [] } },
  ]);
  for await (const { _id: chain } of withoutHead) await check(chain);
  return found;
}
