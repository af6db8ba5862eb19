import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { hostSettings } from '../../core/host-settings';
import { DAY_MS } from '../../core/time';
import { reasonOf } from '../../core/values';
import { fault, good, type OfflineCheck } from './check';

const CHECK = 'certificate';
/** Whoever renews them by themselves has done so by then. */
const SOON_MS = 14 * DAY_MS;

/** Whether the TLS certificate is valid, and for how long. */
export const certificate: OfflineCheck = async (settings) => {
  const file = settings.of(hostSettings.tlsCertFile);
  if (file === undefined) return [good(CHECK, 'none is set: HTTP without TLS')];
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    const remedy = 'run doctor as the user that the server runs as';
    return [fault(CHECK, `${file} cannot be read (${reasonOf(error)}): ${remedy}.`)];
  }
  const { validFrom, validTo } = new X509Certificate(content);
  const end = Date.parse(validTo);
  const day = new Date(end).toISOString().slice(0, 10);
  const remedy = 'renew it, then send SIGHUP to the server';
  if (Date.parse(validFrom) > Date.now()) {
    return [fault(CHECK, `${file} is not valid before ${validFrom}: check it and the clock.`)];
  }
  if (end < Date.now()) return [fault(CHECK, `${file} has expired on ${day}: ${remedy}.`)];
  if (end - Date.now() < SOON_MS) {
    return [fault(CHECK, `${file} expires on ${day}: ${remedy}.`)];
  }
  return [good(CHECK, `valid until ${day}`)];
};
