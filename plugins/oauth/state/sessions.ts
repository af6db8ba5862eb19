import { accountTarget, type Acting } from '../../../src/data/audit/entry';
import { isRecord } from '../../../src/core/values';
import { grantName, payloadOf, type StateStore } from './store';

/** A browser that somebody is signed in by. */
export interface SessionView {
  id: string;
  user: string;
  /** What it is, as far as it says so; empty where it does not. */
  browser: string;
  since: Date;
  expiresAt: Date;
}

/** The sessions of one person, or of all. */
export async function sessionsOf({ documents }: StateStore, user?: string): Promise<SessionView[]> {
  const now = new Date();
  const whose = user === undefined ? { userId: { $exists: true } } : { userId: user };
  const filter = { kind: 'Session', expiresAt: { $gt: now }, ...whose };
  const found = await documents.find(filter).sort({ createdAt: 1 }).lean();
  return found.flatMap((document) => {
    const { _id, userId: of, createdAt: since, expiresAt } = document;
    if (of === undefined) return [];
    const { state } = payloadOf(document);
    const browser = isRecord(state) ? state['browser'] : undefined;
    const name = typeof browser === 'string' ? browser : '';
    return { id: grantName(_id), user: of, browser: name, since, expiresAt };
  });
}

/**
 * Ends one session, of anybody or of one person, or all of a person, from the next request on; answers
 * those that there were.
 *
 * @param acting who does it, where it is no operator
 */
export async function endSessions(
  store: StateStore,
  which: { id: string; user?: string } | { user: string },
  acting?: Acting,
): Promise<SessionView[]> {
  const good = await sessionsOf(store, which.user);
  const ended = 'id' in which ? good.filter(({ id }) => id === which.id) : good;
  for (const { id, user } of ended) {
    await store.host.transactShared(async (tx) => {
      const filter = { userId: user, kind: 'Session' };
      const { session } = tx;
      const found = await store.documents.find(filter).session(session).lean();
      const isIt = found.find(({ _id }) => grantName(_id) === id);
      if (!isIt) return;
      await store.documents.deleteOne({ _id: isIt._id }, { session });
      const act = { action: 'session.ended', target: accountTarget(user) };
      tx.audit(act, user, acting);
    });
  }
  return ended;
}
