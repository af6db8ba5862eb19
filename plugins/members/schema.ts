import Joi from 'joi';

import { DAY_MS } from '../../src/core/time';
import { id, instant, named, nullable, oneOf, text, timestamp, uri } from '../../src/fields/joi';
import { idText } from '../../src/core/ids';
import type { MemberDocument } from './model';
import { ROLES, type Role } from './roles';

const MAX_AHEAD_MS = 2 * 365 * DAY_MS;

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

export const createMember = Joi.object<NewMember, true>({
  name: name().required().description('What the owner calls the person'),
  role: role()
    .required()
    .description('viewer: reads; carer: also logs care; gardener: also changes plants'),
  until: end().default(null).description('When it ends; null for never'),
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

export const member = named(
  'Member',
  Joi.object({
    ...fields,
    leftAt: instant().description('When the person left, if they have'),
  }),
);

export const members = Joi.object({ items: Joi.array().items(member).required() });

export const newMember = named(
  'NewMember',
  Joi.object({
    ...fields,
    invitation: Joi.object({
      code: text().required().example('fMfKQ9r8GKYqrTwjUPD8IL'),
      url: uri().required(),
      expiresAt: instant().required(),
    })
      .required()
      .description('For one person; it is shown only here'),
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
  const { _id, role: held, until, joinedAt, lastSeenAt, leftAt } = document;
  return {
    id: idText(_id),
    name: document.name,
    role: held,
    until,
    joinedAt,
    lastSeenAt,
    ...(leftAt && { leftAt }),
  };
}
