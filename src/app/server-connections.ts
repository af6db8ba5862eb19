import type { Logger } from 'pino';

import { RedisConnection } from '../data/redis-connection';
import type { Metrics } from '../core/metrics';
import { AccountHash } from '../data/accounts/account-hash';
import { MongoHealth } from '../data/mongodb/mongo-health';
import type { Database } from '../data/mongodb/database';
import { explainRights } from '../data/mongodb/errors';

/** How long MongoDB may take to respond before the service is unready; probes time out after a second. */
export const READY_MS = 800;

export interface ServerAddresses {
  mongodbUri: string;
  redisUrl?: string | undefined;
  /** Whether a backup is being restored, so that the data may be incomplete. */
  restoring?: boolean | undefined;
  /** Whether nothing may be written. */
  reads?: boolean | undefined;
}

/** The connections to MongoDB and Redis, and their health. */
export class ServerConnections {
  readonly mongo: MongoHealth;
  readonly #database: Database;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  #accountHash: AccountHash | undefined;
  #redis: RedisConnection | undefined;

  constructor(database: Database, log: Logger, metrics: Metrics) {
    this.#database = database;
    this.#log = log;
    this.#metrics = metrics;
    this.mongo = new MongoHealth((ms) => database.ping(ms), log, metrics);
  }

  /** Undefined without a Redis. */
  get redis(): RedisConnection | undefined {
    return this.#redis;
  }

  /**
   * Connects to MongoDB and Redis, then runs `prepare`. Readiness can be queried meanwhile.
   *
   * @throws OperatorError if MongoDB denies access, and whatever `prepare` throws
   */
  async open(
    { mongodbUri, redisUrl, restoring = false, reads = false }: ServerAddresses,
    prepare: () => Promise<void>,
  ): Promise<void> {
    const database = this.#database;
    const refused = (error: unknown): never => {
      throw explainRights(error, database.connection.name);
    };
    await database.connect(mongodbUri, { restoring }).catch(refused);
    void this.mongo.watch();
    if (redisUrl !== undefined) {
      this.#redis = new RedisConnection(redisUrl, this.#log, this.#metrics);
      await this.#redis.opened();
    }
    await prepare().catch(refused);
    this.#accountHash = reads ? undefined : await AccountHash.open(database);
  }

  /** Returns the pseudonym of an account in the log. */
  hashAccount(accountId: string): string {
    return this.#accountHash?.of(accountId) ?? '';
  }

  /** Returns whether MongoDB responds, and whether processes share rate limits. */
  async readiness() {
    const [mongodb, refusal] = await Promise.all([
      this.mongo.respondsWithin(READY_MS),
      this.#redis ? this.#redis.refusal() : 'There is none.',
    ]);
    return {
      mongodb,
      rateLimits: refusal === undefined ? ('shared' as const) : ('in memory' as const),
    };
  }

  async close(): Promise<void> {
    this.#redis?.close();
    this.mongo.stop();
    await this.#database.close();
  }
}
