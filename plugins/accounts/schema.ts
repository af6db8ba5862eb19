import Joi from 'joi';

import { DAY_MS } from '../../src/core/time';
import { id, instant, integer, nullable, text } from '../../src/fields/joi';
import { named } from '../../src/fields/schema-name';
import { ACCOUNT_SCOPE } from './scope';

/** How long a token is good unless its maker says otherwise. */
export const YEAR_SECONDS = (365 * DAY_MS) / 1000;

/** A token as its owner sees it. */
export interface OwnToken {
  id: string;
  name: string;
  scopes: string[];
  createdAt: Date;
  expiresAt: Date;
  lastUsedAt: Date | null;
}

const fields = {
  id: id().required(),
  name: text().required().example('Phone'),
  scopes: Joi.array().items(Joi.string().example('plants:read')).required(),
  createdAt: instant().required(),
  expiresAt: instant().required(),
  lastUsedAt: nullable(instant()).required().description('To the hour; null before the first use'),
};

export const ownTokens = Joi.object({
  items: Joi.array()
    .items(named('Token', Joi.object<OwnToken, true>(fields)))
    .required(),
});

export const newToken = named(
  'NewToken',
  Joi.object({
    ...fields,
    token: Joi.string().required().description('The token itself, which is never shown again'),
  }),
);

/** What a token is made of, beside its scopes. */
export const tokenFields = {
  name: text({ min: 1, max: 100 }).required().description('What its owner knows it by'),
  expiresIn: integer(60, YEAR_SECONDS)
    .default(YEAR_SECONDS)
    .example(YEAR_SECONDS)
    .description(
      'For how many seconds it is good: a year, and no longer than the one that makes it',
    ),
};

/** Scopes that a token is made with. */
export const scopeList = Joi.array().items(Joi.string().max(100)).min(1).max(20).unique();

export const createToken = Joi.object<{ name: string; scopes: string[]; expiresIn: number }, true>({
  ...tokenFields,
  scopes: scopeList
    .required()
    .example([ACCOUNT_SCOPE])
    .description('Scopes of the token that makes it, all or some'),
});

export const deleteAccount = Joi.object<{ confirm: string }, true>({
  confirm: text({ max: 128 }).required().description('The userId of the account'),
});
