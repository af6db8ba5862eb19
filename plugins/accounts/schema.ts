import Joi from 'joi';

import { DAY_MS } from '../../src/core/time';
import { id, instant, integer, nullable, text, named } from '../../src/fields/joi';

/** Lets a person's own app create tokens, export the data and delete the account. */
export const ACCOUNT_SCOPE = 'account';
/** Lets a trusted backend create, change and delete accounts, and create tokens for them. */
export const MANAGE_SCOPE = 'accounts:manage';

/** Scopes that a person's token may have. */
export function personalScopes(all: ReadonlyMap<string, string>): string[] {
  return [...all.keys()].filter((scope) => scope !== MANAGE_SCOPE);
}

/** The default scopes of a token: all personal ones but `account`. */
export function usualScopes(all: ReadonlyMap<string, string>): string[] {
  return personalScopes(all).filter((scope) => scope !== ACCOUNT_SCOPE);
}

/** The default lifetime of a token. */
export const YEAR_SECONDS = (365 * DAY_MS) / 1000;

/** A token as its owner sees it. */
export interface OwnToken {
  id: string;
  name: string;
  scopes: string[];
  createdAt: Date;
  expiresAt: Date;
  lastUsedAt: Date | null;
  garden?: string;
}

const fields = {
  id: id().required(),
  name: text().required().example('Phone'),
  scopes: Joi.array().items(Joi.string().example('plants:read')).required(),
  createdAt: instant().required(),
  expiresAt: instant().required(),
  lastUsedAt: nullable(instant()).required().description('To the hour; null before the first use'),
  garden: text().example('ada').description('The owner of the only garden that it opens, if any'),
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
    token: Joi.string().required().description('The token itself, which is shown only once'),
  }),
);

/** The fields of a new token, except its scopes. */
export const tokenFields = {
  name: text({ min: 1, max: 100 }).required().description('A name that its owner will recognize'),
  expiresIn: integer(60, YEAR_SECONDS)
    .default(YEAR_SECONDS)
    .example(YEAR_SECONDS)
    .description(
      'Its lifetime in seconds: a year by default, and no longer than that of the token that creates it',
    ),
};

/** The scopes of a new token. */
export const scopeList = Joi.array().items(Joi.string().max(100)).min(1).max(20).unique();

interface CreateToken {
  name: string;
  scopes: string[];
  expiresIn: number;
  garden?: string;
}

export const createToken = Joi.object<CreateToken, true>({
  ...tokenFields,
  scopes: scopeList
    .required()
    .example([ACCOUNT_SCOPE])
    .description('All or some of the scopes of the token that creates it'),
  garden: text({ min: 1, max: 128 })
    .example('ada')
    .description('The id of the only garden that it opens; all that are open to you if left out'),
}).example({ name: 'Phone', scopes: [ACCOUNT_SCOPE], expiresIn: YEAR_SECONDS });

export const deleteAccount = Joi.object<{ confirm: string }, true>({
  confirm: text({ max: 128 }).required().description('The userId of the account'),
});
