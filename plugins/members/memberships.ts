import type { ClientSession } from 'mongoose';

import { fieldError, gardenNotFound } from '../../src/core/errors';
import { type Account, type Garden, type Gardens, hashOf } from '../../src/core/identity';
import { HOUR_MS } from '../../src/core/time';
import type { Transaction } from '../../src/data/writing/transaction';
import type { Host } from '../../src/plugins/host';
import type { Accounts } from '../accounts';
import { invitationNotFound } from './errors';
import { Members, targetOf } from './members';
import { authorOf, isOpen, openFor, type MemberDocument, memberModel } from './model';
import { roleWith, scopesOf } from './roles';
import type { GardenView } from './schema';

/** An invitation whose code is good. */
export interface Invitation {
  member: MemberDocument;
  owner: Account;
  /** As the person who joins will see it. */
  garden: GardenView;
  expiresAt: Date;
}

/** The gardens of others that a person may enter. */
export class Memberships implements Gardens {
  /** The members of gardens, for their owners. */
  readonly members: Members;
  readonly #model;
  readonly #host: Host;
  readonly #accounts: Accounts;

  constructor(host: Host, accounts: Accounts) {
    this.#host = host;
    this.#accounts = accounts;
    this.#model = host.model(memberModel);
    this.members = new Members(host);
  }

  /** Read for each request, so that it ends at once in every process. */
  async find(userId: string, person: string): Promise<Garden | undefined> {
    const [member, account] = await Promise.all([
      this.members.find({ userId, person }),
      this.#accounts.person(userId),
    ]);
    return this.#entered(member, account);
  }

  /**
   * The garden that the secret of a link opens, as whoever has it may act there. Read for each request, so that it
   * ends at once in every process.
   */
  async sitting(secret: string): Promise<Garden | undefined> {
    const sitter = await this.#model.findOne({ linkHash: hashOf(secret) }).lean();
    return sitter ? this.#entered(sitter, await this.#accounts.person(sitter.userId)) : undefined;
  }

  #entered(member: MemberDocument | null, account: Account | undefined): Garden | undefined {
    const now = new Date();
    if (!member || !account || !isOpen(member, now)) return undefined;
    const { role, until } = member;
    return {
      account,
      by: authorOf(member),
      role,
      until,
      scopes: scopesOf(role),
      roleWith,
      recordUse: () => {
        this.#recordUse(member, now);
      },
      again: (session) => this.#again(member, session),
    };
  }

  /** The garden of the same membership. A person who left and was let in again has another. */
  async #again(
    { _id, account, linkHash }: MemberDocument,
    session?: ClientSession,
  ): Promise<Garden | undefined> {
    const found = await this.#model
      .findOne({ _id })
      .session(session ?? null)
      .lean();
    if (!found || found.account !== account || found.linkHash !== linkHash) return undefined;
    return this.#entered(found, await this.#accounts.person(found.userId, session));
  }

  /** Whether a garden lets a person in now. */
  async isMember(garden: string, person: string, session?: ClientSession): Promise<boolean> {
    const member = await this.members.find({ userId: garden, person }, session);
    return member !== null && isOpen(member, new Date());
  }

  /** A person's gardens, their own first. */
  async list(own: Account): Promise<GardenView[]> {
    const now = new Date();
    const open = await this.#model.find(openFor(own.id, now)).sort({ joinedAt: 1 }).lean();
    const owners = await this.#accounts.lists.open(open.map(({ userId }) => userId));
    const byId = new Map(owners.map((owner) => [owner.id, owner]));
    return [
      { id: own.id, name: nameOf(own), role: 'owner', until: null },
      ...open.flatMap((member) => {
        const owner = byId.get(member.userId);
        return owner ? [viewOf(member, owner)] : [];
      }),
    ];
  }

  /**
   * The invitation of a code, which may be the person's own, or have let them in already.
   *
   * @param person who wants to use it; undefined if nobody knows yet
   * @throws ApiError invitation_not_found
   */
  async invitation(
    code: string,
    person: string | undefined,
    session?: ClientSession,
  ): Promise<Invitation> {
    const found = this.#model.findOne({ codeHash: hashOf(code) });
    const member = await found.session(session ?? null).lean();
    if (!member?.codeExpiresAt || !isOpen(member, new Date())) throw invitationNotFound.error();
    const { userId, account, codeExpiresAt: expiresAt } = member;
    const isUsed = account !== undefined && account !== person && userId !== person;
    const owner = isUsed ? undefined : await this.#accounts.person(userId, session);
    if (!owner) throw invitationNotFound.error();
    return { member, owner, garden: viewOf(member, owner), expiresAt };
  }

  /**
   * Makes the person of `tx` a member by a code, or gives a member the role and end of a newer one. A
   * member may repeat the code that let them in.
   *
   * @throws ApiError invitation_not_found, member_limit_reached, or validation_error for one's own code
   */
  async join(tx: Transaction, code: string): Promise<GardenView> {
    const { session, userId: person, now } = tx;
    const { member: invited, owner, garden } = await this.invitation(code, person, session);
    const { userId, role, until } = invited;
    if (userId === person) {
      throw fieldError('code', 'code must be that of another person: this garden is your own.');
    }
    if (invited.account === person) return garden;
    const known = await this.members.openFor(tx, { userId, person });
    if (known) await this.#model.deleteOne({ _id: invited._id }, { session });
    else await this.members.requireGardenRoom(tx, person);
    const member = known ?? invited;
    const codeHash = hashOf(code);
    const $set = { role, until, codeHash, account: person, joinedAt: member.joinedAt ?? now };
    await this.#model.updateOne({ _id: member._id }, { $set }, { session });
    const changes = { garden: userId, role, until };
    tx.audit({ action: 'member.joined', target: targetOf(member), changes });
    return viewOf({ ...member, ...$set }, owner);
  }

  /** Leaves a garden. @throws ApiError garden_not_found */
  async leave(tx: Transaction, userId: string): Promise<void> {
    const { session, userId: person, now } = tx;
    const found = await this.members.find({ userId, person }, session);
    if (!found || !isOpen(found, now)) throw gardenNotFound.error();
    tx.audit({ action: 'member.left', target: targetOf(found), changes: { garden: userId } });
    await this.members.retire(tx, found);
  }

  /** To the hour, so that reads do not become writes. */
  #recordUse({ _id, lastSeenAt }: MemberDocument, now: Date): void {
    const hour = new Date(now.getTime() - (now.getTime() % HOUR_MS));
    if (lastSeenAt !== null && lastSeenAt >= hour) return;
    const seen = this.#model.updateOne({ _id, lastSeenAt }, { $set: { lastSeenAt: hour } }).exec();
    seen.catch((error: unknown) => {
      this.#host.log.debug({ err: error }, 'When a member was last seen was not recorded');
    });
  }
}

function nameOf({ id, gardenName }: Account): string {
  return gardenName ?? id;
}

function viewOf({ role, until }: MemberDocument, owner: Account): GardenView {
  return { id: owner.id, name: nameOf(owner), role, until };
}
