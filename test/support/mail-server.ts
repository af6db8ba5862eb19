import { once } from 'node:events';

import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

import type { Certificate } from './certificate';

/** A mail as a person receives it. */
export interface Received extends ParsedMail {
  /** To whom it was delivered. */
  recipients: string[];
  /** Whether the connection was encrypted, and who had signed in. */
  session: { secure: boolean; user: string | undefined };
  raw: string;
}

interface MailServerOptions extends SMTPServerOptions {
  /** Without it STARTTLS is not offered. */
  certificate?: Certificate;
}

/** What refuses a command, with a status of SMTP. */
export function refusal(status: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode: status });
}

/** A mail server that accepts everything, unless told otherwise. */
export class MailServer {
  readonly received: Received[] = [];
  /** How many connections were made. */
  connections = 0;
  readonly #server: SMTPServer;

  private constructor({ certificate, ...options }: MailServerOptions) {
    this.#server = new SMTPServer({
      authOptional: true,
      disableReverseLookup: true,
      closeTimeout: 100,
      ...(certificate ?? { hideSTARTTLS: true }),
      onAuth: ({ username, password }, _session, done) => {
        if (password === 'right') done(null, { user: username });
        else done(refusal(535, 'Bad password'));
      },
      onConnect: (_session, done) => {
        this.connections += 1;
        done();
      },
      onData: (stream, { envelope, secure, user }, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const raw = Buffer.concat(chunks);
          const recipients = envelope.rcptTo.map(({ address }) => address);
          void simpleParser(raw).then((parsed) => {
            const session = { secure, user: user === undefined ? undefined : String(user) };
            this.received.push({ ...parsed, recipients, session, raw: raw.toString() });
            done();
          }, done);
        });
      },
      ...options,
    });
    // Clients that are aborted or refuse the certificate.
    this.#server.on('error', () => undefined);
  }

  static async start(options: MailServerOptions = {}, port = 0): Promise<MailServer> {
    const server = new MailServer(options);
    server.#server.listen(port, '127.0.0.1');
    await once(server.#server.server, 'listening');
    return server;
  }

  get port(): number {
    const address = this.#server.server.address();
    return address !== null && typeof address === 'object' ? address.port : 0;
  }

  /** @param credentials such as `user:password@` */
  url(credentials = '', host = '127.0.0.1'): string {
    return `smtp://${credentials}${host}:${this.port}`;
  }

  /** Takes the mails to an address. */
  take(address: string): Received[] {
    const taken = this.received.filter(({ recipients }) => recipients.includes(address));
    for (const mail of taken) this.received.splice(this.received.indexOf(mail), 1);
    return taken;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }
}

/** The link in a mail, without its origin. */
export function linkIn({ text = '' }: ParsedMail): string {
  const { pathname, search } = new URL(/https?:\S+/.exec(text)?.[0] ?? '');
  return pathname + search;
}
