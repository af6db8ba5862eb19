import { idText } from '../../../src/core/ids';
import { ownOrigin } from '../../../src/core/settings/public-origin';
import { DAY_MS, HOUR_MS } from '../../../src/core/time';
import type { Host } from '../../../src/plugins/host';
import type { Channel, Delivery, Outcome } from '../../deliveries';
import { type Mailer, RECOVERY_REST_MS } from '../../mail';
import { type Language, spokenOf } from '../../pages';
import { type LetterKind, LETTERS } from './letters';
import { MAIL, type Mails } from './mails';

/** Sends mails about accounts. */
export class MailChannel implements Channel {
  readonly name = MAIL;
  readonly concurrency;
  readonly longestPauseMs = 60_000;
  readonly #mailer: Mailer;
  readonly #mails: Mails;
  readonly #origin: string;

  constructor({ settings }: Host, mailer: Mailer, mails: Mails) {
    this.concurrency = mailer.concurrency;
    this.#mailer = mailer;
    this.#mails = mails;
    this.#origin = ownOrigin(settings);
  }

  async send(delivery: Delivery): Promise<Outcome | undefined> {
    const body = JSON.parse(delivery.body) as Record<string, unknown>; // As Mails stores it.
    const kind = body['type'] as LetterKind; // As above.
    const to = { address: String(body['address']), language: spokenOf(String(body['language'])) };
    const path = await this.#pathFor(kind, delivery, to);
    if (path === undefined) return undefined;
    const about = { account: delivery.userId, link: this.#origin + path };
    const { subject, text } = LETTERS[to.language][kind](about);
    const mail = { id: idText(delivery._id), to: to.address, subject, text };
    const { status, error, isRefused } = await this.#mailer.send(mail);
    return isRefused ? undefined : { status, error };
  }

  abort(): void {
    this.#mailer.abort();
  }

  /** The page that a mail leads to; undefined if nobody wants it any more. */
  async #pathFor(
    kind: LetterKind,
    delivery: Delivery,
    to: { address: string; language: Language },
  ): Promise<string | undefined> {
    const { links, addresses } = this.#mails;
    if (kind === 'changed') return '/forgot';
    if (kind === 'replaced') return '/settings';
    if (kind === 'confirmation') {
      const valid = { seconds: DAY_MS / 1000, restMs: 0 };
      const secret = await links.create(delivery, 'Confirmation', to, valid);
      return secret && `/confirm-address?link=${secret}`;
    }
    if ((await addresses.of(delivery.userId))?.address !== to.address) return undefined;
    const valid = { seconds: HOUR_MS / 1000, restMs: RECOVERY_REST_MS };
    const secret = await links.create(delivery, 'Recovery', to, valid);
    return secret && `/recover?link=${secret}`;
  }
}
