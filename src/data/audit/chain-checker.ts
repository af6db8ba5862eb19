import { DAY_MS } from '../../core/time';
import { type AuditEntry, CHAIN_START, type ChainEnd, hashOf } from './entry';
import type { AuditHeadDocument, PrunedEntries } from './model';

/** The shortest time that entries can be kept for. */
const MIN_KEPT_MS = DAY_MS;

/** Finds entries of a chain that were removed, altered or inserted. */
export class ChainChecker {
  /** What is wrong with the chain, a sentence each. */
  readonly faults: string[] = [];
  count = 0;
  #last: ChainEnd;

  /** @param head the head of the chain, with what was pruned from it */
  constructor(head: AuditHeadDocument | undefined) {
    this.#last = head?.pruned ?? CHAIN_START;
    if (head?.pruned && !isPlausible(head.pruned)) {
      this.faults.push('the record of its pruned entries was altered');
    }
  }

  add(entry: AuditEntry): void {
    this.count += 1;
    const { seq, hash, previousHash } = entry;
    const expected = this.#last.seq + 1;
    if (seq < expected || !Number.isInteger(seq)) {
      this.faults.push(`entry ${seq} was inserted`);
      return;
    }
    if (seq > expected) this.faults.push(`${numbers(expected, seq - 1)} removed`);
    if (!isIntact(entry)) this.faults.push(`entry ${seq} was altered`);
    else if (seq === expected && previousHash !== this.#last.hash) {
      this.faults.push(`entry ${seq} does not follow the one before it: one of them was altered`);
    }
    this.#last = { seq, hash };
  }

  /** Compares the last entry with the head. */
  end(head: AuditHeadDocument | undefined): void {
    if (!head) {
      this.faults.push('its head was removed');
      return;
    }
    const { seq, hash } = head;
    if (this.#last.seq < seq) {
      this.faults.push(`${numbers(this.#last.seq + 1, seq)} removed, at the end`);
    } else if (this.#last.seq > seq) {
      this.faults.push(`${numbers(seq + 1, this.#last.seq)} inserted, at the end`);
    } else if (this.#last.hash !== hash) {
      this.faults.push(`entry ${seq}, the newest, is not the one that was recorded`);
    }
  }
}

/** Whether the entries can have been pruned as recorded; the record has no hash. */
function isPlausible({ count, seq, until }: PrunedEntries): boolean {
  return count === seq && until instanceof Date && Date.now() - until.getTime() >= MIN_KEPT_MS;
}

function isIntact({ hash, ...content }: AuditEntry): boolean {
  return hashOf(content) === hash;
}

function numbers(first: number, last: number): string {
  return first === last ? `entry ${first} was` : `entries ${first} to ${last} were`;
}
