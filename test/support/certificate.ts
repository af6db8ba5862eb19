import { generateKeyPairSync, sign } from 'node:crypto';
import { DAY_MS } from '../../src/core/time';

/** A certificate and its key, both as PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/** Tags of DER, the binary form of certificates. */
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const DNS_NAME = 0x82;
const IP_ADDRESS = 0x87;

/** Object identifiers, in DER. */
const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const RSA_WITH_SHA256 = Buffer.from('06092a864886f70d01010b0500', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex');

/**
 * Creates a self-signed certificate for localhost, without a tool or a stored key.
 *
 * @param days how long it is valid
 * @param from when it becomes valid, in days from now
 */
export function makeCertificate(
  days = 1,
  kind: 'ec' | 'rsa' = 'ec',
  rsaBits = 2048,
  from = -1,
): Certificate {
  const { publicKey, privateKey } =
    kind === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
      : generateKeyPairSync('rsa', { modulusLength: rsaBits });
  const algorithm = der(SEQUENCE, kind === 'ec' ? ECDSA_WITH_SHA256 : RSA_WITH_SHA256);
  const attribute = der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from('localhost')));
  const name = der(SEQUENCE, der(SET, attribute));
  const names = der(
    SEQUENCE,
    der(DNS_NAME, Buffer.from('localhost')),
    der(IP_ADDRESS, Buffer.from([127, 0, 0, 1])),
  );
  const extension = der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTET_STRING, names));
  const content = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.from([1])),
    algorithm,
    name,
    der(SEQUENCE, time(Date.now() + from * DAY_MS), time(Date.now() + days * DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(SEQUENCE, extension)),
  );
  const noUnusedBits = Buffer.from([0]);
  const signature = der(BIT_STRING, noUnusedBits, sign('sha256', content, privateKey));
  const lines = der(SEQUENCE, content, algorithm, signature)
    .toString('base64')
    .replace(/.{64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...(length < 0x80 ? [length] : long)]), content]);
}

/** `YYMMDDhhmmssZ` */
function time(moment: number): Buffer {
  const digits = new Date(moment).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(UTC_TIME, Buffer.from(`${digits}Z`));
}
