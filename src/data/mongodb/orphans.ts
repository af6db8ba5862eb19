import type { Connection, mongo } from 'mongoose';
import type { Logger } from 'pino';

import { PROJECT } from '../../core/settings/project';

/** How the program calls itself on its connections to MongoDB. */
export const APP_NAME = PROJECT.name;

/**
 * How long nothing happens in a transaction when nobody is there to send its next command. In a
 * process that lives it is milliseconds; one that was suspended loses the transaction and runs its
 * writes again.
 */
const ORPHANED_MS = 6000;

/** A transaction that waits for its next command. */
interface IdleTransaction {
  _id: { session: mongo.UUID; number: bigint | number };
  /** How long commands of it ran so far: as long as it stays the same, none has. */
  activeMicros: number;
}

/**
 * Transactions that a process left open when it was killed: until they end they keep all others
 * from writing to their accounts, by MongoDB's own limit for a minute. Ending them takes
 * no more rights than the program has anyway, for these are its own sessions.
 */
export class OrphanedTransactions {
  /** Idle transactions, how long they had been active, and since when they have not been. */
  #seen = new Map<string, { activeMicros: number; since: number }>();
  #looking: Promise<void> | undefined;
  readonly #connection: Connection;
  readonly #log: Logger;

  constructor(connection: Connection, log: Logger) {
    this.#connection = connection;
    this.#log = log;
  }

  /**
   * Ends those in which nothing has happened for a while, as far as it was looked at; to be called
   * again and again. Who calls meanwhile waits for the same.
   */
  async end(): Promise<void> {
    this.#looking ??= this.#end().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  async #end(): Promise<void> {
    try {
      const orphans = this.#orphansAmong(await this.#idle());
      if (orphans.length === 0) return;
      await this.#admin.command({ killSessions: orphans.map((id) => ({ id })) });
      this.#log.warn(
        { count: orphans.length },
        'Ended transactions that a killed process left open',
      );
    } catch (error) {
      this.#log.warn({ err: error }, 'Transactions of killed processes could not be looked for');
    }
  }

  #idle(): Promise<IdleTransaction[]> {
    const stages = [
      { $currentOp: { allUsers: false, idleSessions: true } },
      { $match: { type: 'idleSession', appName: APP_NAME, transaction: { $exists: true } } },
      {
        // One transaction may be open on several shards.
        $group: {
          _id: { session: '$lsid.id', number: '$transaction.parameters.txnNumber' },
          activeMicros: { $sum: '$transaction.timeActiveMicros' },
        },
      },
    ];
    // `$currentOp` knows no other read concern.
    const local = { readConcern: { level: 'local' } } as const;
    return this.#admin.aggregate<IdleTransaction>(stages, local).toArray();
  }

  #orphansAmong(idle: readonly IdleTransaction[]): mongo.UUID[] {
    const now = performance.now();
    const before = this.#seen;
    this.#seen = new Map();
    return idle.flatMap(({ _id: { session, number }, activeMicros }) => {
      const key = `${session.toHexString()} ${number}`;
      const known = before.get(key);
      const since = known?.activeMicros === activeMicros ? known.since : now;
      this.#seen.set(key, { activeMicros, since });
      return now - since >= ORPHANED_MS ? session : [];
    });
  }

  get #admin(): mongo.Db {
    return this.#connection.getClient().db('admin');
  }
}
