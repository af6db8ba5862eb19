import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { importJWK, jwtVerify } from 'jose';

import { listening } from '../../../test/support/listening';

export interface Posted {
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** A server that others chose. */
export class Receiver {
  readonly posted: Posted[] = [];
  /** Its response to a path: a status, none at all, or a body without end. */
  answer: (path: string) => number | 'never' | 'endless' = () => 201;
  url = '';
  readonly #server: Server = createServer((request, response) => {
    void this.#receive(request, response);
  });

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.url = `http://127.0.0.1:${await listening(receiver.#server)}`;
    return receiver;
  }

  /** What was posted to a path since the last call. */
  take(path: string): Posted[] {
    const taken = this.posted.filter((each) => each.path === path);
    for (const each of taken) this.posted.splice(this.posted.indexOf(each), 1);
    return taken;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const { url: path = '', headers } = request;
    this.posted.push({ path, body, headers: headers as Posted['headers'] }); // Each was sent once.
    const answer = this.answer(path);
    if (typeof answer === 'number') response.writeHead(answer).end();
    else if (answer === 'endless') {
      const write = (): void => {
        while (response.write('x'.repeat(65_536)));
      };
      response.writeHead(200).on('drain', write);
      write();
    }
  }
}

/** A browser with a subscription at a push service. */
export class Device {
  readonly path: string;
  readonly #receiver: Receiver;
  readonly #auth = randomBytes(16).toString('base64url');
  readonly #ecdh = createECDH('prime256v1');

  constructor(receiver: Receiver, path = `/push/${randomBytes(8).toString('hex')}`) {
    this.#receiver = receiver;
    this.#ecdh.generateKeys();
    this.path = path;
  }

  get subscription() {
    return {
      endpoint: this.#receiver.url + this.path,
      expirationTime: null,
      keys: { p256dh: this.#ecdh.getPublicKey('base64url'), auth: this.#auth },
    };
  }

  /** What a push service and the browser do with a message; throws if they would refuse it. */
  async received(posted: Posted, publicKey: string): Promise<Record<string, unknown>> {
    const { headers } = posted;
    const [, token = '', key] =
      /^vapid t=([^,]+), k=(.+)$/.exec(headers['authorization'] ?? '') ?? [];
    expect(key).toBe(publicKey);
    await this.#verify(token, publicKey);
    expect(headers).toMatchObject({
      'content-encoding': 'aes128gcm',
      ttl: expect.stringMatching(/^\d+$/) as string,
      // RFC 8030, section 5.4.
      topic: expect.stringMatching(/^[\w-]{1,32}$/) as string,
    });
    // What push services take at least.
    expect(posted.body.length).toBeLessThanOrEqual(4096);
    const text = this.#decrypted(posted.body);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3072);
    return JSON.parse(text) as Record<string, unknown>;
  }

  /** By RFC 8291 and RFC 8188, of a single record. */
  #decrypted(body: Buffer): string {
    const [salt, keyEnd] = [body.subarray(0, 16), 21 + body.readUInt8(20)];
    const serverKey = body.subarray(21, keyEnd);
    const about = ['WebPush: info\0', this.#ecdh.getPublicKey(), serverKey];
    const shared = this.#ecdh.computeSecret(serverKey);
    const secret = derived(shared, Buffer.from(this.#auth, 'base64url'), about, 32);
    const key = derived(secret, salt, ['Content-Encoding: aes128gcm\0'], 16);
    const nonce = derived(secret, salt, ['Content-Encoding: nonce\0'], 12);
    const decipher = createDecipheriv('aes-128-gcm', key, nonce);
    decipher.setAuthTag(body.subarray(-16));
    const padded = Buffer.concat([decipher.update(body.subarray(keyEnd, -16)), decipher.final()]);
    const end = padded.lastIndexOf(2);
    expect(end).toBeGreaterThan(0);
    return padded.subarray(0, end).toString();
  }

  async #verify(token: string, publicKey: string): Promise<void> {
    const bytes = Buffer.from(publicKey, 'base64url');
    const [x, y] = [bytes.subarray(1, 33), bytes.subarray(33)];
    const jwk = { kty: 'EC', crv: 'P-256', x: x.toString('base64url'), y: y.toString('base64url') };
    const { payload } = await jwtVerify(token, await importJWK(jwk, 'ES256'), {
      audience: this.#receiver.url,
      algorithms: ['ES256'],
      currentDate: new Date(),
    });
    // RFC 8292, section 2.
    expect(Number(payload.exp) - Date.now() / 1000).toBeLessThanOrEqual(24 * 3600);
    expect(payload.sub).toMatch(/^(https?:|mailto:)/);
  }
}

function derived(
  key: Buffer,
  salt: Buffer,
  about: readonly (string | Buffer)[],
  bytes: number,
): Buffer {
  const info = Buffer.concat(about.map((each) => Buffer.from(each)));
  return Buffer.from(hkdfSync('sha256', key, salt, info, bytes));
}
