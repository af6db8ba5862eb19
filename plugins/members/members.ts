import { randomBytes } from 'node:crypto';

import type { ClientSession } from 'mongoose';

import { hashOf } from '../../src/core/identity';
import { idText, newId } from '../../src/core/ids';
import { DAY_MS } from '../../src/core/time';
import type { Act } from '../../src/data/audit/entry';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import { membershipEnded } from './domain-events';
import { MAX_GARDENS, MAX_MEMBERS, memberLimitReached, memberNotFound } from './errors';
import { isOpen, leftAt, type MemberDocument, memberModel, openFor } from './model';
import { checkSitter, type NewMember, viewOf } from './schema';

/** Too many to guess. */
const SECRET_BYTES = 18;
const INVITATION_MS = 7 * DAY_MS;
/** How many members who left, or whose time has passed, are listed. */
const MAX_ENDED = 50;

/** A person in the garden of another. */
interface Membership {
  /** The owner. */
  userId: string;
  person: string;
}

/** Whom the owner of a garden lets in. */
export class Members {
  readonly #model;

  constructor(host: Host) {
    this.#model = host.model(memberModel);
  }

  /** Newest first. */
  async list(userId: string): Promise<object[]> {
    return (await this.#of({ userId })).map(viewOf);
  }

  /**
   * Invites a person; returns the code this once.
   *
   * @throws ApiError member_limit_reached
   */
  async invite(tx: Transaction, member: NewMember) {
    const code = newSecret();
    const expiresAt = new Date(tx.now.getTime() + INVITATION_MS);
    const way = { codeHash: hashOf(code), codeExpiresAt: expiresAt };
    return { view: await this.#add(tx, member, way, 'member.invited'), code, expiresAt };
  }

  /**
   * Makes a link for a person without an account; returns its secret this once.
   *
   * @throws ApiError member_limit_reached, or validation_error for what no sitter may have
   */
  async makeLink(tx: Transaction, member: NewMember) {
    checkSitter(member, tx.now);
    const secret = newSecret();
    const way = { linkHash: hashOf(secret) };
    return { view: await this.#add(tx, member, way, 'member.linked'), secret };
  }

  async #add(
    tx: Transaction,
    { name, role, until }: NewMember,
    way: Pick<MemberDocument, 'codeHash' | 'codeExpiresAt' | 'linkHash'>,
    action: string,
  ) {
    const { session, userId, now } = tx;
    await this.#makeRoom(tx);
    const fields = { _id: newId(), userId, name, role, until, ...way };
    const document = { ...fields, createdAt: now, joinedAt: null, lastSeenAt: null };
    await this.#model.create([document], { session });
    tx.audit({ action, target: targetOf(document), changes: { role, until } });
    return viewOf(document);
  }

  /**
   * Changes a member.
   *
   * @throws ApiError member_not_found; member_limit_reached if one who had ended is let in again;
   *   validation_error for what no sitter may have
   */
  async change(tx: Transaction, id: string, changes: Partial<NewMember>) {
    const { session, userId, now } = tx;
    const before = await this.#model.findOne({ _id: id, userId }).session(session).lean();
    if (!before) throw memberNotFound.error();
    const after = { ...before, ...changes };
    if (Object.keys(changes).length === 0) return viewOf(before);
    if (before.linkHash !== undefined) checkSitter(after, now);
    if (isOpen(after, now) && !isOpen(before, now)) await this.#requireRoom(tx, before);
    await this.#model.updateOne({ _id: id }, { $set: changes }, { session });
    const { role, until } = after;
    tx.audit({ action: 'member.changed', target: targetOf(before), changes: { role, until } });
    return viewOf(after);
  }

  /**
   * Makes a person a member without an invitation, or changes the member that they are.
   *
   * @param person the id of an account that exists
   * @throws ApiError member_limit_reached
   */
  async put(tx: Transaction, person: string, { name, role, until }: NewMember) {
    const { session, userId, now } = tx;
    const known = await this.openFor(tx, { userId, person });
    if (known) {
      return {
        view: await this.change(tx, idText(known._id), { name, role, until }),
        isNew: false,
      };
    }
    const moments = { codeExpiresAt: now, createdAt: now, joinedAt: now, lastSeenAt: null };
    const fields = { _id: newId(), userId, name, role, until, account: person };
    const document: MemberDocument = { ...fields, ...moments };
    await this.#requireRoom(tx, document);
    await this.#model.create([document], { session });
    tx.audit({ action: 'member.added', target: targetOf(document), changes: { role, until } });
    return { view: viewOf(document), isNew: true };
  }

  /**
   * The membership of a person that has not ended. One whose time has passed ends for good: what was made for it does
   * not work again once the person is let in again.
   */
  async openFor(tx: Transaction, of: Membership): Promise<MemberDocument | undefined> {
    const found = await this.find(of, tx.session);
    if (!found || isOpen(found, tx.now)) return found ?? undefined;
    await this.retire(tx, found);
    return undefined;
  }

  /** The record of a person, also of one whose time has passed. */
  find({ userId, person }: Membership, session?: ClientSession): Promise<MemberDocument | null> {
    const found = this.#model.findOne({ account: person, userId });
    return found
      .session(session ?? null)
      .lean()
      .exec();
  }

  /** Ends a membership, of which a record without the person stays. */
  async retire(tx: Transaction, member: MemberDocument): Promise<void> {
    await this.#model.updateOne({ _id: member._id }, leftAt(tx.now), { session: tx.session });
    await announceEnd(tx, member);
  }

  /** Ends the membership of a person. @throws ApiError member_not_found */
  async endOf(tx: Transaction, person: string): Promise<void> {
    const found = await this.find({ userId: tx.userId, person }, tx.session);
    if (!found) throw memberNotFound.error();
    await this.end(tx, idText(found._id));
  }

  /** The members and open invitations, newest first, each with the account of a person who has joined. */
  async accounts(userId: string): Promise<object[]> {
    const found = await this.#of({ userId });
    return found.map((each) => ({
      ...viewOf(each),
      ...(each.account && { account: each.account }),
    }));
  }

  /** Ends a membership, or withdraws an invitation. @throws ApiError member_not_found */
  async end(tx: Transaction, id: string): Promise<void> {
    const { session, userId } = tx;
    const ended = await this.#model.findOne({ _id: id, userId }).session(session).lean();
    if (!ended) throw memberNotFound.error();
    tx.audit({ action: 'member.ended', target: targetOf(ended) });
    await this.#forget(tx, [ended]);
  }

  /** Requires that a person may join another garden. @throws ApiError member_limit_reached */
  async requireGardenRoom({ session, now }: Transaction, person: string): Promise<void> {
    const open = await this.#model.countDocuments(openFor(person, now)).session(session);
    if (open >= MAX_GARDENS) throw memberLimitReached.error();
  }

  /** Requires that one who had ended may be let in again. @throws ApiError member_limit_reached */
  async #requireRoom(tx: Transaction, { account }: MemberDocument): Promise<void> {
    await this.#makeRoom(tx);
    if (account !== undefined) await this.requireGardenRoom(tx, account);
  }

  /** Forgets the oldest that have ended. @throws ApiError member_limit_reached */
  async #makeRoom(tx: Transaction): Promise<void> {
    const all = await this.#of(tx);
    const ended = all.filter((each) => !isOpen(each, tx.now));
    if (all.length - ended.length >= MAX_MEMBERS) throw memberLimitReached.error();
    await this.#forget(tx, ended.slice(MAX_ENDED));
  }

  /** Ends all memberships of the garden of `tx`, and withdraws its invitations. */
  async endAll(tx: Transaction): Promise<void> {
    await this.#forget(tx, await this.#of(tx));
  }

  /** Ends all memberships of the person of `tx`. */
  async leaveAll(tx: Transaction): Promise<void> {
    const { session, userId: account } = tx;
    const found = await this.#model.find({ account }).session(session).lean();
    for (const each of found) await this.retire(tx, each);
  }

  /** Deletes the records of members. */
  async #forget(tx: Transaction, members: readonly MemberDocument[]): Promise<void> {
    if (members.length === 0) return;
    const _id = { $in: members.map((member) => member._id) };
    await this.#model.deleteMany({ _id }, { session: tx.session });
    for (const each of members) await announceEnd(tx, each);
  }

  #of({ userId, session }: { userId: string; session?: Transaction['session'] }) {
    const found = this.#model.find({ userId }).sort({ createdAt: -1, _id: -1 });
    return found.session(session ?? null).lean();
  }
}

async function announceEnd(
  tx: Transaction,
  { userId: garden, account: person }: MemberDocument,
): Promise<void> {
  if (person !== undefined) await tx.emit(membershipEnded, { person, garden });
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

export function targetOf({ _id }: Pick<MemberDocument, '_id'>): Act['target'] {
  return { type: 'member', id: idText(_id) };
}
