import Joi from 'joi';

import { ErrorCode, validationError } from '../../src/core/errors';
import { type Account, TIERS, type Tier, ACCOUNT_ID_RULE } from '../../src/core/identity';
import { instant, nullable, oneOf, timestamp, timezone, named } from '../../src/fields/joi';
import { type PageQuery, page, pageQuery } from '../../src/fields/page';
import { scopeList, tokenFields } from '../accounts';

export const accountNotFound = new ErrorCode('account_not_found', 404, 'Account not found.');

/** The error for creating an account whose id no path can name. */
export const invalidAccountId = validationError.at(400, `The id of an account ${ACCOUNT_ID_RULE}.`);

/** An account as a backend sees it. */
interface AccountView {
  id: string;
  tier: Tier;
  tierUntil: Date | null;
  timezone: string;
  createdAt: Date;
}

export function viewOf({ id, tier, tierUntil, timezone: zone, createdAt }: Account): AccountView {
  return { id, tier, tierUntil: tierUntil ?? null, timezone: zone, createdAt };
}

export const accountSchema = named(
  'ManagedAccount',
  Joi.object<AccountView, true>({
    id: Joi.string()
      .required()
      .example('ada')
      .description('The id of the account; `userId` in other responses'),
    tier: oneOf(TIERS).required().description('The tier now'),
    tierUntil: nullable(instant())
      .required()
      .description('When the tier becomes free again; null for never'),
    timezone: Joi.string().required().example('Europe/Paris'),
    createdAt: instant().required(),
  }),
);

export const accountPage = page<AccountView>(accountSchema);

export const listAccounts = Joi.object<PageQuery>(pageQuery('Accounts'));

interface PutAccount {
  tier?: Tier;
  tierUntil?: Date | null;
  timezone?: string;
}

export const putAccount = Joi.object<PutAccount>({
  tier: oneOf(TIERS).description('`free` for a new account; permanent unless `tierUntil` is sent'),
  tierUntil: nullable(timestamp()).description('When the tier becomes free again; null for never'),
  timezone: timezone().description('IANA name; UTC for a new account'),
});

interface CreateToken {
  name: string;
  scopes?: string[];
  expiresIn: number;
}

export const createToken = Joi.object<CreateToken>({
  ...tokenFields,
  scopes: scopeList
    .example(['plants:read'])
    .description('Its scopes; all but `account` if left out'),
});
