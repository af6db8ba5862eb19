import { createTransport } from 'nodemailer';

import { redact } from '../../src/core/text/redact';
import type { Settings } from '../../src/core/settings/settings';
import { isRecord, reasonOf } from '../../src/core/values';
import { type Outcome, TIMEOUT_MS } from '../deliveries';
import { mailFromSetting, smtpUrlSetting } from './settings';

/** How many connections are kept, each for a while after the last mail. */
const CONNECTIONS = 4;
const IDLE_MS = 5000;

/** A mail in plain text. */
export interface Mail {
  /** Makes its `Message-ID`, so that a repeated attempt is recognized. */
  id: string;
  /** A valid address. */
  to: string;
  subject: string;
  text: string;
}

/** The result of an attempt; its status is that of SMTP. */
export interface MailOutcome extends Outcome {
  /** Whether the server refuses this recipient or mail for good. */
  isRefused: boolean;
}

/** Sends mail through the server of SMTP_URL. */
export class Mailer {
  /** How many mails are sent at once. */
  readonly concurrency = CONNECTIONS;
  readonly #url: string;
  readonly #from: string;
  readonly #transport;
  #stopping = new AbortController();

  constructor(url: string, from: string) {
    this.#url = url;
    this.#from = from;
    const hasPassword = new URL(url).username !== '';
    this.#transport = createTransport({
      url,
      pool: true,
      maxConnections: CONNECTIONS,
      idleTimeout: IDLE_MS,
      connectionTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
      // By default it sends a password unencrypted, and no password if none is asked for.
      requireTLS: hasPassword,
      forceAuth: hasPassword,
    });
  }

  /** Makes one attempt. It does not throw. */
  async send({ id, to, subject, text }: Mail): Promise<MailOutcome> {
    const domain = this.#from.replace(/^.*@|>$/g, '');
    try {
      await this.#transport.sendMail({
        messageId: `<${id}@${domain}>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
        from: this.#from,
        to: { name: '', address: to },
        subject,
        text,
        signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), this.#stopping.signal]),
      });
      return { status: null, error: null, isRefused: false };
    } catch (error) {
      return outcomeOf(error);
    }
  }

  /** Aborts all attempts in progress. */
  abort(): void {
    this.#stopping.abort();
    this.#stopping = new AbortController();
  }

  /** Connects and signs in to the server, without sending; returns why that fails, if it does. */
  async fault(): Promise<string | undefined> {
    try {
      await this.#transport.verify();
      return undefined;
    } catch (error) {
      const [line = ''] = reasonOf(error).split('\n');
      return redact(line, this.#url).replace(/[.\s]+$/, '');
    }
  }
}

/** The mailer that is set up; undefined if none is. */
export function mailerOf(settings: Settings): Mailer | undefined {
  const url = settings.of(smtpUrlSetting);
  const from = settings.of(mailFromSetting);
  return url === undefined || from === undefined ? undefined : new Mailer(url, from);
}

/** Responses of servers name addresses, so only their status is shown. */
function outcomeOf(error: unknown): MailOutcome {
  const { responseCode, command, code }: Record<string, unknown> = isRecord(error) ? error : {};
  if (typeof responseCode !== 'number') {
    const why = typeof code === 'string' ? ` (${code})` : '';
    return { status: null, error: `The mail server could not be used${why}.`, isRefused: false };
  }
  // Earlier ones are not about this mail.
  const isRefused = responseCode >= 500 && (command === 'RCPT TO' || command === 'DATA');
  return {
    status: responseCode,
    error: `The mail server responded with ${responseCode}.`,
    isRefused,
  };
}
