import Joi from 'joi';

import { DAY_MS } from '../../src/core/time';
import {
  id,
  instant,
  named,
  nullable,
  oneOf,
  text,
  timestamp,
  uri,
  withKeys,
} from '../../src/fields/joi';
import { idText } from '../../src/core/ids';
import { ValidationErrors } from '../../src/fields/validation';
import type { MemberDocument } from './model';
import { ROLES, type Role } from './roles';

const MAX_AHEAD_MS = 2 * 365 * DAY_MS;
/** How far ahead a link may end. */
const MAX_LINK_DAYS = 90;

/** A moment in the future. */
function end(): Joi.DateSchema {
  return nullable(timestamp())
    .custom((value: Date | null, helpers) => {
      const ahead = value === null ? 1 : value.getTime() - Date.now();
      return ahead > 0 && ahead <= MAX_AHEAD_MS ? value : helpers.error('until.range');
    })
    .messages({ 'until.range': '{{#label}} must be in the future, at most 2 years ahead' });
}

const name = () => text({ min: 1, max: 60 }).example('Ben next door');
const role = () => oneOf(ROLES).example('carer');

export interface NewMember {
  name: string;
  role: Role;
  until: Date | null;
}

/** What is special about the member whom a link lets in. @throws ApiError validation_error */
export function checkSitter({ role, until }: Pick<NewMember, 'role' | 'until'>, now: Date): void {
  const errors = new ValidationErrors();
  if (role !== 'carer')
    errors.add('role', 'must be carer: a link lets somebody care for the plants');
  if (until === null || until.getTime() - now.getTime() > MAX_LINK_DAYS * DAY_MS) {
    errors.add('until', `must be at most ${MAX_LINK_DAYS} days ahead: a link has an end`);
  }
  errors.throwIfAny();
}

/** A member whom no invitation lets in. */
export const putMember = Joi.object<NewMember, true>({
  name: name().required().description('What the owner calls the person'),
  role: role()
    .required()
    .description('viewer: reads; carer: also logs care; gardener: also changes plants'),
  until: end().default(null).description('When it ends; null for never'),
});

export const createMember = withKeys<NewMember & { link: boolean }>(putMember, {
  link: Joi.boolean()
    .default(false)
    .description(
      `Whether to make a link for a carer without an account, instead of an invitation; until is at most ${MAX_LINK_DAYS} days ahead then`,
    ),
});

export const updateMember = Joi.object<Partial<NewMember>, true>({
  name: name().description('What the owner calls the person'),
  role: role().description('Holds from the next request on'),
  until: end().description('When it ends; null for never'),
});

const fields = {
  id: id().required(),
  name: name().required(),
  role: role().required(),
  until: nullable(instant()).required(),
  joinedAt: nullable(instant()).required().description('null until the person joins'),
  lastSeenAt: nullable(instant()).required().description('To the hour'),
};

const byLink = () =>
  Joi.boolean().valid(true).description('Only if a link lets the person in, who has no account');

export const member = named(
  'Member',
  Joi.object({
    ...fields,
    leftAt: instant().description('When the person left, if they have'),
    byLink: byLink(),
  }),
);

/** A member as a backend sees them. */
export const managedMember = named(
  'ManagedMember',
  withKeys<object>(member, {
    account: text().example('ben').description('The account of a person who has joined'),
  }),
);

export const managedMembers = Joi.object({ items: Joi.array().items(managedMember).required() });

export const members = Joi.object({ items: Joi.array().items(member).required() });

export const newMember = named(
  'NewMember',
  Joi.object({
    ...fields,
    invitation: Joi.object({
      code: text().required().example('fMfKQ9r8GKYqrTwjUPD8IL'),
      url: uri().required(),
      expiresAt: instant().required(),
    }).description('For one person; it is shown only here'),
    byLink: byLink(),
    link: Joi.object({ url: uri().required() }).description(
      'Opens the garden to whoever has it; it is shown only here',
    ),
  }),
);

export const joinGarden = Joi.object<{ code: string }, true>({
  code: text({ min: 1, max: 100 }).required().description('The code of the invitation'),
});

export interface GardenView {
  id: string;
  name: string;
  role: Role | 'owner';
  until: Date | null;
}

export const garden = named(
  'Garden',
  Joi.object<GardenView, true>({
    id: text().required().example('ada').description('For the header Garden'),
    name: text().required().example('Balcony'),
    role: oneOf(['owner', ...ROLES]).required(),
    until: nullable(instant()).required().description('When it ends; null for never'),
  }),
);

export const gardens = Joi.object({ items: Joi.array().items(garden).required() });

/** A member as the owner sees it. */
export function viewOf(document: MemberDocument) {
  const { _id, role: held, until, joinedAt, lastSeenAt, leftAt, linkHash } = document;
  return {
    id: idText(_id),
    name: document.name,
    role: held,
    until,
    joinedAt,
    lastSeenAt,
    ...(leftAt && { leftAt }),
    ...(linkHash !== undefined && { byLink: true }),
  };
}
