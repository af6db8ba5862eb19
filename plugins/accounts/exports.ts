import type { PersonalData } from './personal-data';
import type { AccountService } from './service';
import type { TokenService } from './tokens/service';

/** What other plugins and commands may do with accounts, their tokens and all of their data. */
export type Accounts = Pick<
  AccountService,
  | 'accept'
  | 'account'
  | 'accounts'
  | 'accountsAfter'
  | 'change'
  | 'changeAccount'
  | 'createIn'
  | 'ensureAccount'
  | 'isOpen'
  | 'lapsed'
  | 'person'
  | 'putAccount'
  | 'timezones'
  | 'tokensChanged'
  | 'toRemind'
> &
  Pick<
    TokenService,
    | 'createToken'
    | 'goodTokens'
    | 'hasTokens'
    | 'idOf'
    | 'makeOwn'
    | 'pruneTokens'
    | 'revokeAll'
    | 'revokeOwn'
    | 'revokeToken'
    | 'revokeTokensOf'
    | 'rotateToken'
    | 'tokens'
  > &
  Pick<PersonalData, 'close' | 'counts' | 'deleteUser' | 'exportUser' | 'keep'>;

export function exportsOf(
  accounts: AccountService,
  tokens: TokenService,
  data: PersonalData,
): Accounts {
  return {
    accept: (kind) => {
      accounts.accept(kind);
    },
    account: (userId) => accounts.account(userId),
    accounts: () => accounts.accounts(),
    accountsAfter: (id, limit) => accounts.accountsAfter(id, limit),
    change: (tx, changes) => accounts.change(tx, changes),
    changeAccount: (...change) => accounts.changeAccount(...change),
    ensureAccount: (...account) => accounts.ensureAccount(...account),
    createIn: (...account) => accounts.createIn(...account),
    isOpen: (userId) => accounts.isOpen(userId),
    lapsed: (after, to) => accounts.lapsed(after, to),
    timezones: () => accounts.timezones(),
    toRemind: (...times) => accounts.toRemind(...times),
    tokensChanged: (session, userId) => accounts.tokensChanged(session, userId),
    person: (userId, session) => accounts.person(userId, session),
    putAccount: (...account) => accounts.putAccount(...account),
    createToken: (wanted) => tokens.createToken(wanted),
    goodTokens: (userId) => tokens.goodTokens(userId),
    hasTokens: () => tokens.hasTokens(),
    makeOwn: (tx, wanted) => tokens.makeOwn(tx, wanted),
    revokeAll: (tx) => tokens.revokeAll(tx),
    revokeOwn: (tx, id) => tokens.revokeOwn(tx, id),
    pruneTokens: () => tokens.pruneTokens(),
    idOf: (token) => tokens.idOf(token),
    revokeToken: (id) => tokens.revokeToken(id),
    revokeTokensOf: (userId) => tokens.revokeTokensOf(userId),
    rotateToken: (id, overlapSeconds) => tokens.rotateToken(id, overlapSeconds),
    tokens: (userId) => tokens.tokens(userId),
    close: (tx) => data.close(tx),
    counts: (userId) => data.counts(userId),
    deleteUser: (userId, onDeleted) => data.deleteUser(userId, onDeleted),
    exportUser: (...wanted) => data.exportUser(...wanted),
    keep: (kept) => {
      data.keep(kept);
    },
  };
}
