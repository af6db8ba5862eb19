import { accountTarget, type Acting } from '../../../src/data/audit/entry';
import { isRecord } from '../../../src/core/values';
import { PageFault } from '../pages/texts';
import { noteDevice } from './devices';
import { publicId, payloadOf, type StateStore } from './store';

/** How many sessions an account may have; beyond that the oldest ends. */
const MAX_SESSIONS = 100;
/** How often an account may sign in: each sign-in is recorded in the audit log. */
const SIGN_INS = { most: 120, seconds: 3600 };

/** A browser in which a person is signed in. */
export interface SessionView {
  id: string;
  user: string;
  /** Its name; empty if unknown. */
  browser: string;
  since: Date;
  expiresAt: Date;
}

/**
 * Inserts a session; the library then writes its payload.
 *
 * @param id the id in the cookie
 * @param device the secret by which the browser is known afterwards, if it is
 * @throws PageFault if the account is closed, or has signed in too often
 */
export async function beginSession(
  store: StateStore,
  {
    id,
    user,
    expiresAt,
    device,
  }: { id: string; user: string; expiresAt: Date; device: string | undefined },
  acting: Acting,
): Promise<void> {
  if (!(await store.spend(`sign-in of ${user}`, SIGN_INS))) {
    throw new PageFault('tooOften', 429, SIGN_INS.seconds);
  }
  await store.host.transactShared(async (tx) => {
    // Conflicts with closing the account, which deletes only the sessions that it sees.
    if (!(await store.accounts.tokensChanged(tx.session, user))) throw new PageFault('wrong');
    const oldest = await store.allButNewest(MAX_SESSIONS - 1, user, 'Session', tx.session);
    await store.documents.deleteMany({ _id: { $in: oldest } }, { session: tx.session });
    await store.put(tx, id, { kind: 'Session', payload: '{}', expiresAt, userId: user });
    if (device !== undefined) await noteDevice(store, tx, device, user);
    tx.audit({ action: 'session.started', target: accountTarget(user) }, user, acting);
  });
}

/** The sessions of one account, or of all. */
export async function sessionsOf(store: StateStore, user?: string): Promise<SessionView[]> {
  return (await validSessions(store, user)).map(({ view }) => view);
}

/**
 * Ends one session, or all of an account.
 *
 * @param acting who ends it; an operator if left out
 * @returns the sessions that ended
 */
export async function endSessions(
  store: StateStore,
  which: { id: string; user?: string } | { user: string },
  acting?: Acting,
): Promise<SessionView[]> {
  const good = await validSessions(store, which.user);
  const ended = 'id' in which ? good.filter(({ view }) => view.id === which.id) : good;
  for (const { _id, view } of ended) {
    await store.host.transactShared(async (tx) => {
      const { session } = tx;
      const { deletedCount } = await store.documents.deleteOne({ _id }, { session });
      if (deletedCount === 0) return;
      tx.audit({ action: 'session.ended', target: accountTarget(view.user) }, view.user, acting);
    });
  }
  return ended.map(({ view }) => view);
}

/** Valid sessions, each with the id of its document. */
async function validSessions(
  { documents }: StateStore,
  user: string | undefined,
): Promise<{ _id: string; view: SessionView }[]> {
  const whose = user === undefined ? { userId: { $exists: true } } : { userId: user };
  const filter = { kind: 'Session', expiresAt: { $gt: new Date() }, ...whose };
  const found = await documents.find(filter).sort({ createdAt: 1 }).lean();
  return found.flatMap((document) => {
    const { _id, userId: of, createdAt: since, expiresAt } = document;
    if (of === undefined) return [];
    const { state } = payloadOf(document);
    const browser = isRecord(state) ? state['browser'] : undefined;
    const name = typeof browser === 'string' ? browser : '';
    return { _id, view: { id: publicId(_id), user: of, browser: name, since, expiresAt } };
  });
}
