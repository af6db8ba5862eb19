import type { ClientSession, mongo } from 'mongoose';

/** A write that is sent later, with others. */
export interface PendingWrite {
  write:
    | { insertOne: { document: object } }
    | { updateOne: { filter: object; update: object; upsert?: boolean } }
    | { updateMany: { filter: object; update: object } };
  /** For an update that has to match so many documents: the error where there are fewer. */
  required?: { count: number; missing: () => Error };
}

const bySession = new WeakMap<ClientSession, PendingWrites>();

/** The account whose data is written; undefined where it is of no one account. */
type Owner = string | undefined;

/**
 * The writes of a transaction whose outcome nobody waits for: those to a collection are sent in one
 * command, in their order, before what the account has there is next read or written, or at the end.
 * By session, so that no query of the transaction can pass them by.
 */
export class PendingWrites {
  readonly #byCollection = new Map<mongo.Collection, Map<Owner, PendingWrite[]>>();
  readonly #session: ClientSession;

  constructor(session: ClientSession) {
    this.#session = session;
    bySession.set(session, this);
  }

  /** Those of a transaction in progress; undefined for other sessions. */
  static of(session: ClientSession | undefined): PendingWrites | undefined {
    return session && bySession.get(session);
  }

  add(collection: mongo.Collection, owner: Owner, writes: readonly PendingWrite[]): void {
    if (writes.length === 0) return;
    const byOwner = this.#byCollection.get(collection) ?? new Map<Owner, PendingWrite[]>();
    this.#byCollection.set(collection, byOwner);
    const pending = byOwner.get(owner);
    if (pending) pending.push(...writes);
    else byOwner.set(owner, [...writes]);
  }

  /**
   * Sends what an account has pending for a collection; all accounts', where no one is named.
   *
   * @throws as {@link sendWrites} does
   */
  async flush(collection: mongo.Collection, owner?: Owner): Promise<void> {
    const byOwner = this.#byCollection.get(collection);
    const owners = owner === undefined ? [...(byOwner?.keys() ?? [])] : [owner];
    const pending = owners.flatMap((each) => byOwner?.get(each) ?? []);
    for (const each of owners) byOwner?.delete(each);
    if (pending.length > 0) await sendWrites(collection, pending, this.#session);
  }

  async flushAll(): Promise<void> {
    for (const collection of [...this.#byCollection.keys()]) await this.flush(collection);
  }
}

/**
 * Sends writes to a collection, in their order.
 *
 * @throws what `missing` answers for one that matched too little: MongoDB counts the matches of a
 *   command and not of each of its writes, so it may be that of another
 */
export async function sendWrites(
  collection: mongo.Collection,
  writes: readonly PendingWrite[],
  session: ClientSession | undefined,
): Promise<void> {
  for (const group of groupsOf(writes)) {
    const options = session ? { session } : {};
    const matchedCount = await send(collection, group, options);
    const required = group.flatMap((write) => write.required ?? []);
    const count = required.reduce((sum, each) => sum + each.count, 0);
    if (required[0] && matchedCount < count) throw required[0].missing();
  }
}

/** Sends writes in one command; answers how many documents their updates matched. */
async function send(
  collection: mongo.Collection,
  group: readonly PendingWrite[],
  options: { session?: ClientSession },
): Promise<number> {
  const [only] = group;
  if (only && group.length === 1) {
    // The same command, without the driver's collecting of many.
    if ('insertOne' in only.write) {
      await collection.insertOne(only.write.insertOne.document, options);
      return 0;
    }
    if ('updateMany' in only.write) {
      const { filter, update } = only.write.updateMany;
      return (await collection.updateMany(filter, update, options)).matchedCount;
    }
    const { filter, update, upsert = false } = only.write.updateOne;
    return (await collection.updateOne(filter, update, { ...options, upsert })).matchedCount;
  }
  // What sends them has checked them against the type of its documents.
  const writes = group.map(({ write }) => write as mongo.AnyBulkWriteOperation);
  return (await collection.bulkWrite(writes, options)).matchedCount;
}

/** Splits writes, in their order, where those that have to match begin or end. */
function groupsOf(writes: readonly PendingWrite[]): PendingWrite[][] {
  const groups: PendingWrite[][] = [];
  for (const write of writes) {
    const group = groups.at(-1);
    if (group && !group[0]?.required === !write.required) group.push(write);
    else groups.push([write]);
  }
  return groups;
}
