import type { SharedTransaction } from '../../../src/data/audit/audit-log';
import { DAY_MS } from '../../../src/core/time';
import type { StateStore } from './store';

/** How long a browser is known after a sign-in. */
export const DEVICE_SECONDS = (365 * DAY_MS) / 1000;
/** In how many browsers a person is known; beyond that the oldest becomes a stranger. */
const MAX_DEVICES = 20;

/**
 * Notes that a person has signed in with a browser.
 *
 * @param device the secret in the browser's cookie, which several people may share
 */
export async function noteDevice(
  store: StateStore,
  tx: SharedTransaction,
  device: string,
  userId: string,
): Promise<void> {
  const { session } = tx;
  const oldest = await store.allButNewest(MAX_DEVICES - 1, userId, 'Device', session);
  await store.documents.deleteMany({ _id: { $in: oldest } }, { session });
  const expiresAt = new Date(Date.now() + DEVICE_SECONDS * 1000);
  await store.put(tx, ofPerson(device, userId), {
    kind: 'Device',
    payload: '{}',
    expiresAt,
    userId,
  });
}

/** A name for a person's browser; undefined if the person has not signed in with it. */
export async function knownDevice(
  store: StateStore,
  device: string,
  userId: string,
): Promise<string | undefined> {
  if (device === '') return undefined;
  return (await store.find('Device', ofPerson(device, userId)))?._id;
}

function ofPerson(device: string, userId: string): string {
  return `device ${device} of ${userId}`;
}
