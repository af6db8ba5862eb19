import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

import { record } from '../../../../test/support/client';
import type { Page } from './browser';

/** What a device may get wrong, or an attacker may try. */
export interface Lies {
  origin?: string;
  challenge?: string;
  counter?: number;
  format?: string;
  crossOrigin?: boolean;
  isUserVerified?: boolean;
}

/** A device with one passkey; creates what a browser would submit. */
export class Authenticator {
  counter = 0;
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  constructor(
    readonly origin: string,
    readonly id = randomBytes(16),
  ) {}

  /** Creates its passkey with the options of a page. */
  make(page: Page, { format = 'none', ...lies }: Lies = {}): string {
    const attestation = Buffer.concat([
      Buffer.of(0xa3),
      text('fmt'),
      text(format),
      text('attStmt'),
      Buffer.of(0xa0),
      text('authData'),
      bytes(this.#data(lies, this.#publicKey())),
    ]);
    const clientDataJSON = this.#clientData('webauthn.create', optionsOf(page), lies);
    return this.#sent({ clientDataJSON, attestationObject: attestation });
  }

  /** Uses its passkey with the options of a page. */
  use(page: Page, lies: Lies = {}): string {
    this.counter += 1;
    const clientDataJSON = this.#clientData('webauthn.get', optionsOf(page), lies);
    const authenticatorData = this.#data(lies);
    const signed = Buffer.concat([authenticatorData, digest(clientDataJSON)]);
    const signature = sign('sha256', signed, this.#keys.privateKey);
    return this.#sent({ clientDataJSON, authenticatorData, signature });
  }

  #sent(response: Record<string, Buffer>): string {
    const encoded = Object.entries(response).map(([name, value]) => [
      name,
      value.toString('base64url'),
    ]);
    const id = this.id.toString('base64url');
    const given = { id, rawId: id, type: 'public-key', clientExtensionResults: {} };
    return JSON.stringify({ ...given, response: Object.fromEntries(encoded) as object });
  }

  #clientData(type: string, { challenge }: Record<string, unknown>, lies: Lies): Buffer {
    const { crossOrigin = false, origin = this.origin } = lies;
    const said = { type, challenge: lies.challenge ?? challenge, crossOrigin, origin };
    return Buffer.from(JSON.stringify(said));
  }

  #data({ counter = this.counter, isUserVerified = true }: Lies, made?: Buffer): Buffer {
    const flags = 0x01 | (isUserVerified ? 0x04 : 0) | (made ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const head = [digest(Buffer.from(new URL(this.origin).hostname)), Buffer.of(flags), count];
    if (!made) return Buffer.concat(head);
    return Buffer.concat([...head, Buffer.alloc(16), uint16(this.id.length), this.id, made]);
  }

  /** The public key in COSE. */
  #publicKey(): Buffer {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    const [left, right] = [x, y].map((each) => bytes(Buffer.from(each, 'base64url')));
    const head = Buffer.of(0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21);
    return Buffer.concat([head, left ?? head, Buffer.of(0x22), right ?? head]);
  }
}

/** The options of the passkey button on a page. */
export function optionsOf({ text: page }: Page): Record<string, unknown> {
  const found = /data-passkey="([^"]*)"/.exec(page)?.[1] ?? '{}';
  return record(JSON.parse(found.replaceAll('&quot;', '"')));
}

function digest(content: Buffer): Buffer {
  return createHash('sha256').update(content).digest();
}

/** A short text in CBOR. */
function text(content: string): Buffer {
  return Buffer.concat([Buffer.of(0x60 + content.length), Buffer.from(content)]);
}

/** Bytes in CBOR. */
function bytes(content: Buffer): Buffer {
  const { length } = content;
  const head = length < 256 ? Buffer.of(0x58, length) : Buffer.of(0x59, ...uint16(length));
  return Buffer.concat([head, content]);
}

function uint16(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff);
}
