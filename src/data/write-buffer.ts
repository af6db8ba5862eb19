import type { ClientSession, mongo } from 'mongoose';

import { yieldToEventLoop } from '../core/event-loop';
import { chunksOf } from '../core/values';

/** How many writes a command has at most: the driver encodes them in one turn of the event loop. */
const MAX_SENT = 500;

/** A write that is sent later, with others. */
export interface BufferedWrite {
  write:
    | { insertOne: { document: object } }
    | { updateOne: { filter: object; update: object; upsert?: boolean } }
    | { updateMany: { filter: object; update: object } };
  /** For an update that must match so many documents: the error where it matches fewer. */
  required?: { count: number; missing: () => Error };
}

/** The account whose data is written; undefined where it is of no one account. */
type Owner = string | undefined;

const bySession = new WeakMap<ClientSession, WriteBuffer>();

/**
 * The writes of a transaction whose outcome nobody waits for. Those to a collection are sent in one
 * command, in their order: before the account's next read or other write there, or at the end. The
 * buffer is found by its session, so no query of the transaction overtakes it.
 */
export class WriteBuffer {
  readonly session: ClientSession;
  readonly #byCollection = new Map<mongo.Collection, { owner: Owner; write: BufferedWrite }[]>();

  constructor(session: ClientSession) {
    this.session = session;
    bySession.set(session, this);
  }

  /** The buffer of a transaction in progress; undefined for other sessions. */
  static of(session: ClientSession | undefined): WriteBuffer | undefined {
    return session && bySession.get(session);
  }

  add(collection: mongo.Collection, owner: Owner, writes: readonly BufferedWrite[]): void {
    const buffered = this.#byCollection.get(collection) ?? [];
    this.#byCollection.set(collection, buffered);
    for (const write of writes) buffered.push({ owner, write });
  }

  /**
   * Sends an account's writes to a collection; those of all accounts where no one is named.
   *
   * @throws as {@link sendWrites} does
   */
  async flush(collection: mongo.Collection, owner?: Owner): Promise<void> {
    const buffered = this.#byCollection.get(collection) ?? [];
    const isSent = (each: { owner: Owner }): boolean =>
      owner === undefined || each.owner === owner;
    const sent = buffered.filter(isSent);
    if (sent.length === 0) return;
    const rest = buffered.filter((each) => !isSent(each));
    this.#byCollection.set(collection, rest);
    await sendWrites(collection, sent.map(({ write }) => write), this.session);
  }

  async flushAll(): Promise<void> {
    for (const collection of this.#byCollection.keys()) await this.flush(collection);
  }
}

/**
 * Sends writes to a collection, in their order.
 *
 * @throws what `missing` returns for one that matched too little: MongoDB counts the matches of a
 *   command and not of each of its writes, so it may be that of another
 */
export async function sendWrites(
  collection: mongo.Collection,
  writes: readonly BufferedWrite[],
  session: ClientSession | undefined,
): Promise<void> {
  for (const group of groupsOf(writes)) {
    // `Records` has checked them against the type of its documents.
    const operations = group.map(({ write }) => write as mongo.AnyBulkWriteOperation);
    let matchedCount = 0;
    for (const chunk of chunksOf(operations, MAX_SENT)) {
      if (operations.length > MAX_SENT) await yieldToEventLoop();
      const sent = await collection.bulkWrite(chunk, session ? { session } : {});
      matchedCount += sent.matchedCount;
    }
    const required = group.flatMap((write) => write.required ?? []);
    const count = required.reduce((sum, each) => sum + each.count, 0);
    if (required[0] && matchedCount < count) throw required[0].missing();
  }
}

/** Splits writes where those that must match begin or end. */
function groupsOf(writes: readonly BufferedWrite[]): BufferedWrite[][] {
  const groups: BufferedWrite[][] = [];
  for (const write of writes) {
    const group = groups.at(-1);
    if (group && !group[0]?.required === !write.required) group.push(write);
    else groups.push([write]);
  }
  return groups;
}
