import { randomBytes } from 'node:crypto';

import type { ClientSession } from 'mongoose';

import { idText } from '../../../src/core/ids';
import type { Delivery } from '../../deliveries';
import { type Language, spokenOf } from '../../pages';
import { PageFault } from '../pages/texts';
import type { StateDocument } from '../state/model';
import { payloadOf, type StateStore } from '../state/store';

export type LinkKind = 'Confirmation' | 'Recovery';

/** What the secret of a link in a mail is good for. */
export interface MailLink {
  account: string;
  address: string;
  language: Language;
}

/** Links in mails. Each works once, and the newest of its kind and account alone. */
export class Links {
  readonly #store: StateStore;

  constructor(store: StateStore) {
    this.#store = store;
  }

  /**
   * Creates a link when its mail is sent, so that its secret is stored nowhere else.
   *
   * @param restMs how long after another link none is created
   * @returns the secret; undefined if another link is too young, or that of a later mail
   */
  create(
    { _id, userId }: Delivery,
    kind: LinkKind,
    { address, language }: Omit<MailLink, 'account'>,
    { seconds, restMs }: { seconds: number; restMs: number },
  ): Promise<string | undefined> {
    const { documents, host } = this.#store;
    const secret = randomBytes(24).toString('base64url');
    const delivery = idText(_id);
    return host.transactShared(async ({ session, now }) => {
      if (!(await this.#store.accounts.person(userId, session))) return undefined;
      const earlier = await documents.find({ userId, kind }).session(session).lean();
      const isOther = earlier.some((link) => {
        // The ids of deliveries are in their order.
        const other = String(payloadOf(link)['delivery']);
        const isYoung = now.getTime() - link.createdAt.getTime() < restMs;
        return other > delivery || (other !== delivery && isYoung);
      });
      if (isOther) return undefined;
      await documents.deleteMany({ userId, kind }, { session });
      const payload = JSON.stringify({ delivery, address, language });
      const expiresAt = new Date(now.getTime() + seconds * 1000);
      await this.#store.put({ session }, secret, { kind, payload, expiresAt, userId });
      return secret;
    });
  }

  /** What a link is good for. @throws PageFault if it is not good any more */
  async find(kind: LinkKind, secret: string): Promise<MailLink> {
    return linkIn(await this.#store.find(kind, secret));
  }

  /** Uses a link up. @throws PageFault if it is not good any more */
  async take(session: ClientSession, kind: LinkKind, secret: string): Promise<MailLink> {
    return linkIn(await this.#store.take(kind, secret, session));
  }
}

function linkIn(found: StateDocument | null | undefined): MailLink {
  if (found?.userId === undefined) throw new PageFault('badLink');
  const { address, language } = payloadOf(found);
  return {
    account: found.userId,
    address: String(address),
    language: spokenOf(String(language)),
  };
}
