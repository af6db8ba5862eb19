import { type Connection, mongo } from 'mongoose';
import type { Logger } from 'pino';

import { PROJECT } from '../../core/settings/project';

/** The application name on connections to MongoDB. */
export const APP_NAME = PROJECT.name;

/**
 * After how long without a command a transaction is orphaned. A running process pauses for milliseconds;
 * one that was suspended loses its transaction and retries its writes.
 */
const ORPHANED_MS = 6000;

/** A transaction between commands. */
interface IdleTransaction {
  _id: { session: mongo.UUID; number: bigint | number };
  /** The total run time of its commands, which tells whether any ran. */
  activeMicros: number;
}

/**
 * Ends transactions that a killed process left open. Until then, or for a minute by MongoDB's default,
 * no other process can write to their accounts. It needs no further rights, since the sessions belong
 * to the same user.
 */
export class OrphanedTransactions {
  /** Idle transactions, with their run time and since when it has not changed. */
  #seen = new Map<string, { activeMicros: number; since: number }>();
  #looking: Promise<void> | undefined;
  readonly #connection: Connection;
  readonly #log: Logger;

  constructor(connection: Connection, log: Logger) {
    this.#connection = connection;
    this.#log = log;
  }

  /** Ends transactions that were idle in earlier calls too; must be called repeatedly. */
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
      // The program has closed the connection.
      if (error instanceof mongo.MongoNotConnectedError) return;
      this.#log.warn({ err: error }, 'Could not end the transactions of killed processes');
    }
  }

  #idle(): Promise<IdleTransaction[]> {
    const stages = [
      { $currentOp: { allUsers: false, idleSessions: true } },
      { $match: { type: 'idleSession', appName: APP_NAME, transaction: { $exists: true } } },
      {
        // A transaction may be open on several shards.
        $group: {
          _id: { session: '$lsid.id', number: '$transaction.parameters.txnNumber' },
          activeMicros: { $sum: '$transaction.timeActiveMicros' },
        },
      },
    ];
    // `$currentOp` supports no other read concern.
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
