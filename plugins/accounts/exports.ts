import type { PersonalData } from './personal-data';
import type { AccountService } from './service';
import type { TokenService } from './tokens/service';

/** What other plugins and commands may do with accounts, their tokens and all of their data. */
export type Accounts = Pick<
  AccountService,
  | 'acceptAccessTokens'
  | 'account'
  | 'accounts'
  | 'change'
  | 'changeAccount'
  | 'createIn'
  | 'ensureAccount'
  | 'isOpen'
  | 'tokensChanged'
> &
  Pick<
    TokenService,
    | 'createToken'
    | 'hasTokens'
    | 'idOf'
    | 'pruneTokens'
    | 'revokeToken'
    | 'revokeTokensOf'
    | 'rotateToken'
    | 'tokens'
  > &
  Pick<PersonalData, 'counts' | 'deleteUser' | 'exportUser' | 'keep'>;

export function exportsOf(
  accounts: AccountService,
  tokens: TokenService,
  data: PersonalData,
): Accounts {
  return {
    acceptAccessTokens: (find) => {
      accounts.acceptAccessTokens(find);
    },
    account: (userId) => accounts.account(userId),
    accounts: () => accounts.accounts(),
    change: (tx, changes) => accounts.change(tx, changes),
    changeAccount: (userId, changes) => accounts.changeAccount(userId, changes),
    ensureAccount: (...account) => accounts.ensureAccount(...account),
    createIn: (...account) => accounts.createIn(...account),
    isOpen: (userId) => accounts.isOpen(userId),
    tokensChanged: (session, userId) => accounts.tokensChanged(session, userId),
    createToken: (wanted) => tokens.createToken(wanted),
    hasTokens: () => tokens.hasTokens(),
    pruneTokens: () => tokens.pruneTokens(),
    idOf: (token) => tokens.idOf(token),
    revokeToken: (id) => tokens.revokeToken(id),
    revokeTokensOf: (userId) => tokens.revokeTokensOf(userId),
    rotateToken: (id, overlapSeconds) => tokens.rotateToken(id, overlapSeconds),
    tokens: (userId) => tokens.tokens(userId),
    counts: (userId) => data.counts(userId),
    deleteUser: (userId, onDeleted) => data.deleteUser(userId, onDeleted),
    exportUser: (userId) => data.exportUser(userId),
    keep: (kept) => {
      data.keep(kept);
    },
  };
}
