import type { ClientSession } from 'mongoose';
import pLimit from 'p-limit';

import { newId } from '../../../src/core/ids';
import { DAY_MS, HOUR_MS } from '../../../src/core/time';
import { reasonOf } from '../../../src/core/values';
import { accountTarget, type Acting } from '../../../src/data/audit/entry';
import { type Deliveries, laneOf, newDelivery } from '../../deliveries';
import type { Addresses, MailService } from '../../mail';
import type { Language } from '../../pages';
import { PageFault } from '../pages/texts';
import type { StateStore } from '../state/store';
import type { LetterKind } from './letters';
import { Links } from './links';

/** The name of the channel. */
export const MAIL = 'mail';

/** How many confirmations an address gets, and how many an account may ask for. */
const CONFIRMATIONS = { most: 5, seconds: 3600 };
const CONFIRMATIONS_ASKED = { most: 20, seconds: 3600 };
/** How many changes of an account are told; those after a recovery always are. */
const CHANGES_TOLD = { most: 20, seconds: 3600 };

/** How long the server tries to send a mail. */
const TRIED_MS: Readonly<Record<LetterKind, number>> = {
  confirmation: DAY_MS,
  recovery: HOUR_MS,
  changed: 3 * DAY_MS,
  replaced: 3 * DAY_MS,
};

interface MailsDependencies {
  store: StateStore;
  deliveries: Deliveries;
  mail: MailService;
}

type Address = NonNullable<Awaited<ReturnType<Addresses['of']>>>;

/** Mails about accounts: they are stored, and sent by the channel. */
export class Mails {
  readonly links: Links;
  readonly addresses: Addresses;
  /** Whether there is a mail server. */
  readonly isOn: boolean;
  readonly #store: StateStore;
  readonly #deliveries: Deliveries;
  readonly #recovering = new Set<string>();
  readonly #oneByOne = pLimit(1);

  constructor({ store, deliveries, mail }: MailsDependencies) {
    this.links = new Links(store);
    this.addresses = mail.addresses;
    this.isOn = mail.mailer !== undefined;
    this.#store = store;
    this.#deliveries = deliveries;
  }

  /** Sends a link that confirms an address. @throws PageFault if too many were sent */
  async confirm(userId: string, address: string, language: Language): Promise<void> {
    const isWithin =
      (await this.#store.spend(`confirmations of ${userId}`, CONFIRMATIONS_ASKED)) &&
      (await this.#store.spend(`confirmations to ${address}`, CONFIRMATIONS));
    if (!isWithin) throw new PageFault('tooManyMails', 429, CONFIRMATIONS.seconds);
    await this.#store.host.transactShared(({ session }) =>
      this.#add(session, 'confirmation', { _id: userId, address, language }),
    );
  }

  /** Uses the link that confirms an address. @throws PageFault */
  async confirmed(secret: string, acting: Acting): Promise<void> {
    await this.#store.host.transactShared(async (tx) => {
      const { session } = tx;
      const { account, address, language } = await this.links.take(session, 'Confirmation', secret);
      // Conflicts with closing the account.
      if (!(await this.#store.accounts.tokensChanged(session, account))) {
        throw new PageFault('badLink');
      }
      const before = await this.addresses.of(account, session);
      if (!(await this.addresses.set(session, account, { address, language }))) {
        throw new PageFault('addressTaken');
      }
      if (before && before.address !== address) await this.#left(session, before);
      tx.audit({ action: 'email.confirmed', target: accountTarget(account) }, account, acting);
    });
  }

  /** Removes the address of an account. @throws PageFault if it has none */
  async remove(userId: string, acting: Acting): Promise<void> {
    await this.#store.host.transactShared(async (tx) => {
      const { session } = tx;
      const before = await this.addresses.of(userId, session);
      if (!before) throw new PageFault('gone');
      await this.addresses.remove(session, userId);
      await this.#left(session, before);
      tx.audit({ action: 'email.removed', target: accountTarget(userId) }, userId, acting);
    });
  }

  /**
   * Sends a way back in to the addresses that a name or an address leads to, if any. Takes as long if there are
   * none: what is written is written later.
   */
  async recover(nameOrAddress: string): Promise<void> {
    for (const address of await this.addresses.toRecover(nameOrAddress)) {
      const { _id } = address;
      if (this.#recovering.has(_id)) continue;
      this.#recovering.add(_id);
      void this.#oneByOne(() => this.#recover(address))
        .catch((error: unknown) => {
          this.#store.host.log.warn({ reason: reasonOf(error) }, 'A recovery was not stored');
        })
        .finally(() => this.#recovering.delete(_id));
    }
  }

  /** Tells the address of an account that its password or passkeys have changed. */
  async changed(session: ClientSession, userId: string): Promise<void> {
    const to = await this.addresses.of(userId, session);
    if (to && (await this.#store.spend(`changes of ${userId}`, CHANGES_TOLD))) {
      await this.#add(session, 'changed', to);
    }
  }

  /**
   * The same when all ways to sign in were replaced: earlier links and mails with links end too, since somebody
   * else may have caused them.
   */
  async replaced(session: ClientSession, userId: string): Promise<void> {
    const types = ['confirmation', 'recovery'] as const;
    for (const type of types) {
      await this.#deliveries.cancel(session, { _id: laneOf(MAIL) }, { userId, type });
    }
    const to = await this.addresses.of(userId, session);
    if (to) await this.#add(session, 'changed', to);
  }

  async #recover(address: Address): Promise<void> {
    await this.#store.host.transactShared(async ({ session }) => {
      if (!(await this.addresses.noteRecovery(session, address))) return;
      await this.#add(session, 'recovery', address);
    });
  }

  /** An address that an account leaves opens it no more, and is told. */
  async #left(session: ClientSession, before: Address): Promise<void> {
    await this.#store.documents.deleteMany({ userId: before._id, kind: 'Recovery' }, { session });
    await this.#add(session, 'replaced', before);
  }

  async #add(
    session: ClientSession,
    type: LetterKind,
    { _id: userId, address, language }: Pick<Address, '_id' | 'address' | 'language'>,
  ): Promise<void> {
    if (!this.isOn) return;
    const createdAt = new Date();
    const _id = newId();
    const delivery = newDelivery({
      _id,
      // No mail waits for another.
      destinationId: _id,
      webhookId: laneOf(MAIL),
      type,
      userId,
      since: createdAt,
      revision: 0,
      createdAt,
      dropAt: new Date(createdAt.getTime() + TRIED_MS[type]),
      body: JSON.stringify({ type, address, language }),
    });
    await this.#deliveries.insert(session, [delivery]);
  }
}
