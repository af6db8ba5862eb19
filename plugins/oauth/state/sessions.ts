import { accountTarget } from '../../../src/data/audit/entry';
import { grantName, type StateStore } from './store';

/** A browser that somebody is signed in by. */
export interface SessionView {
  id: string;
  user: string;
  since: Date;
  expiresAt: Date;
}

/** The sessions of one person, or of all. */
export async function sessionsOf({ records }: StateStore, user?: string): Promise<SessionView[]> {
  const now = new Date();
  const whose = user === undefined ? { userId: { $exists: true } } : { userId: user };
  const filter = { kind: 'Session', expiresAt: { $gt: now }, ...whose };
  const found = await records.find({}, filter, { sort: { createdAt: 1 } });
  return found.flatMap(({ _id, userId, createdAt: since, expiresAt }) =>
    userId === undefined ? [] : { id: grantName(_id), user: userId, since, expiresAt },
  );
}

/** Ends one session, or all of a person, from the next request on; answers those that there were. */
export async function endSessions(
  store: StateStore,
  which: { id: string } | { user: string },
): Promise<SessionView[]> {
  const good = await sessionsOf(store, 'user' in which ? which.user : undefined);
  const ended = 'id' in which ? good.filter(({ id }) => id === which.id) : good;
  for (const { id, user } of ended) {
    await store.host.transactShared(async (tx) => {
      const filter = { userId: user, kind: 'Session' };
      const found = await store.records.find({ session: tx.session }, filter);
      const isIt = found.find(({ _id }) => grantName(_id) === id);
      if (!isIt) return;
      await store.records.deleteOne({ session: tx.session }, { _id: isIt._id });
      const act = { action: 'session.ended', target: accountTarget(user) };
      tx.audit(act, user);
    });
  }
  return ended;
}
