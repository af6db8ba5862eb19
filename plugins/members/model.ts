import { Schema } from 'mongoose';

import type { Author } from '../../src/core/identity';
import { IdType, idText, type StoredId } from '../../src/core/ids';
import { sharedModel } from '../../src/data/model/models';
import { ROLES, type Role } from './roles';

/** A person whom the owner of a garden lets in, or has invited. */
export interface MemberDocument {
  _id: StoredId;
  /** The owner. */
  userId: string;
  /** What the owner calls the person. */
  name: string;
  role: Role;
  /** When it ends; null for never. */
  until: Date | null;
  /** The account of the person; missing before the person joins, and after they left. */
  account?: string;
  /** The hash of the code of the invitation; the code itself is not stored. */
  codeHash?: string;
  codeExpiresAt?: Date;
  /** The hash of the secret of a link, which opens the garden without an account, instead of a code. */
  linkHash?: string;
  createdAt: Date;
  joinedAt: Date | null;
  /** To the hour. */
  lastSeenAt: Date | null;
  leftAt?: Date;
}

export const memberModel = sharedModel<MemberDocument>(
  'Member',
  'both the owner of a garden and the member find it',
  { oneShard: 'it is looked up by the owner, by the member or by the code' },
  new Schema(
    {
      _id: { type: IdType, required: true },
      userId: { type: String, required: true },
      name: { type: String, required: true },
      role: { type: String, enum: ROLES, required: true },
      until: { type: Date },
      account: { type: String },
      codeHash: { type: String },
      codeExpiresAt: { type: Date },
      linkHash: { type: String },
      createdAt: { type: Date, required: true },
      joinedAt: { type: Date },
      lastSeenAt: { type: Date },
      leftAt: { type: Date },
    },
    { collection: 'members' },
  )
    // The members of a garden, newest first.
    .index({ userId: 1, createdAt: -1, _id: -1 })
    // A person's gardens, in the order in which they joined.
    .index({ account: 1, joinedAt: 1 }, { partialFilterExpression: { account: { $exists: true } } })
    // Whether a person may enter a garden; nobody is in one twice.
    .index(
      { account: 1, userId: 1 },
      { unique: true, partialFilterExpression: { account: { $exists: true } } },
    )
    // The invitation of a code.
    .index(
      { codeHash: 1 },
      { unique: true, partialFilterExpression: { codeHash: { $exists: true } } },
    )
    // The sitter of a link.
    .index(
      { linkHash: 1 },
      { unique: true, partialFilterExpression: { linkHash: { $exists: true } } },
    ),
);

/** Whether a member or sitter may enter, or a person who is invited may join. */
export function isOpen(member: MemberDocument, now: Date): boolean {
  const { account, codeExpiresAt, linkHash, leftAt, until } = member;
  if (leftAt !== undefined || (until !== null && until <= now)) return false;
  if (account !== undefined || linkHash !== undefined) return true;
  return codeExpiresAt !== undefined && codeExpiresAt > now;
}

/** The memberships of a person that have not ended. */
export function openFor(account: string, now: Date) {
  return { account, $or: [{ until: null }, { until: { $gt: now } }] };
}

/** What is left of a member: what they did stays, and the record no longer says who they are. */
export function leftAt(now: Date) {
  return { $set: { leftAt: now }, $unset: { account: 1, codeHash: 1 } } as const;
}

/** A member, as those who see what they did know them. */
export function authorOf({ _id, name }: MemberDocument): Required<Author> {
  return { id: idText(_id), name };
}
