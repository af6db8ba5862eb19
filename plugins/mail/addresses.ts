import { type ClientSession, Schema } from 'mongoose';

import { sharedModel } from '../../src/data/model/models';
import type { Host } from '../../src/plugins/host';
import { addressIn } from './address';

/** How long after a mail that lets a person back in no other is sent. */
export const RECOVERY_REST_MS = 30 * 60_000;

/** The confirmed address of an account. */
interface AddressDocument {
  /** The account id. */
  _id: string;
  /** As {@link addressIn} returns it. */
  address: string;
  /** That of the page on which the person gave it. */
  language: string;
  confirmedAt: Date;
  /** When the person, or anybody, last asked for a way back in. */
  recoveryAt?: Date;
}

export const addressModel = sharedModel<AddressDocument>(
  'MailAddress',
  'it is looked up before its account is known',
  { oneShard: 'it is looked up by its account or by the address, and both are unique' },
  new Schema(
    {
      _id: { type: String, required: true },
      address: { type: String, required: true },
      language: { type: String, required: true },
      confirmedAt: { type: Date, required: true },
      recoveryAt: { type: Date },
    },
    { collection: 'mailAddresses' },
  )
    // Finds the account of an address.
    .index({ address: 1 }, { unique: true }),
);

type Address = Pick<AddressDocument, 'address' | 'language'>;

/** The confirmed addresses of people; one serves one account. */
export class Addresses {
  readonly #addresses;

  constructor(host: Host) {
    this.#addresses = host.model(addressModel);
  }

  /** The address of an account, if it has one. */
  of(userId: string, session?: ClientSession): Promise<AddressDocument | null> {
    const found = this.#addresses.findOne({ _id: userId });
    return found
      .session(session ?? null)
      .lean()
      .exec();
  }

  /**
   * The address of the account with a name, and that of the one with an address, which may be another, unless it
   * got a way back in within half an hour.
   */
  toRecover(nameOrAddress: string): Promise<AddressDocument[]> {
    const address = addressIn(nameOrAddress);
    const either = [{ _id: nameOrAddress }, ...(address === undefined ? [] : [{ address }])];
    return this.#addresses
      .find({ $and: [{ $or: either }, due()] })
      .lean()
      .exec();
  }

  /** Sets the address of an account; returns false if it serves another one. */
  async set(session: ClientSession, userId: string, set: Address): Promise<boolean> {
    const { address } = set;
    const other = { address, _id: { $ne: userId } };
    if (await this.#addresses.exists(other).session(session)) return false;
    const $set = { ...set, confirmedAt: new Date() };
    await this.#addresses.updateOne({ _id: userId }, { $set }, { session, upsert: true });
    return true;
  }

  /** Removes the address of an account; returns whether there was one. */
  async remove(session: ClientSession, userId: string): Promise<boolean> {
    return (await this.#addresses.deleteOne({ _id: userId }, { session })).deletedCount === 1;
  }

  /** Notes that a way back in is sent to an address; returns false if one was within half an hour. */
  async noteRecovery(session: ClientSession, { _id, address }: AddressDocument): Promise<boolean> {
    const $set = { recoveryAt: new Date() };
    const updated = await this.#addresses.updateOne(
      { _id, address, ...due() },
      { $set },
      { session },
    );
    return updated.matchedCount === 1;
  }

  count(userId: string): Promise<number> {
    return this.#addresses.countDocuments({ _id: userId }).exec();
  }

  async *export(userId: string): AsyncGenerator<object[]> {
    const found = await this.of(userId);
    yield found ? [{ address: found.address, confirmedAt: found.confirmedAt }] : [];
  }
}

/** Matches addresses that got no way back in within half an hour. */
function due() {
  const before = { $lte: new Date(Date.now() - RECOVERY_REST_MS) };
  return { $or: [{ recoveryAt: { $exists: false } }, { recoveryAt: before }] };
}
