import { DAY_MS } from '../../core/time';
import { type AuditEntry, CHAIN_START, type ChainEnd, hashOf } from './entry';
import type { AuditHeadDocument, PrunedEntries } from './model';

/** No setting has entries deleted that are younger, whatever it was before. */
const MIN_KEPT_MS = DAY_MS;

/** Looks for entries of one chain that were removed, altered or inserted. */
export class ChainChecker {
  /** Sentences about the chain. */
  readonly faults: string[] = [];
  /** How many entries it was given. */
  count = 0;
  #last: ChainEnd;

  /** @param head says what was pruned of it */
  constructor(head: AuditHeadDocument | undefined) {
    this.#last = head?.pruned ?? CHAIN_START;
    if (head?.pruned && !isPlausible(head.pruned)) {
      this.faults.push('what its head says of entries deleted by age was altered');
    }
  }

  /** Takes the next entry by number. */
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
      this.faults.push(
        `entry ${seq} does not follow on the one before it: one of them was altered`,
      );
    }
    this.#last = { seq, hash };
  }

  /** Compares where the entries end with where the chain does. */
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

/** Whether entries can have been deleted by age as is said; no more, as it has no hash. */
function isPlausible({ count, seq, until }: PrunedEntries): boolean {
  return count === seq && until instanceof Date && Date.now() - until.getTime() >= MIN_KEPT_MS;
}

function isIntact({ hash, ...content }: AuditEntry): boolean {
  return hashOf(content) === hash;
}

function numbers(first: number, last: number): string {
  return first === last ? `entry ${first} was` : `entries ${first} to ${last} were`;
}
