import { definePlugin } from '../../src/plugins/plugin';
import { commands } from './commands';
import { accountClosed, tierChanged } from './domain-events';
import { type Accounts, exportsOf } from './exports';
import { accountModel, tokenModel } from './model';
import { PersonalData } from './personal-data';
import { AccountLists } from './lists';
import { AccountService } from './service';
import { ExpiringTokens } from './tokens/expiring-tokens';
import { tokenLimitReached, tokenNotFound } from './errors';
import { routes } from './routes';
import { ACCOUNT_SCOPE } from './scope';
import { TokenService } from './tokens/service';

export { tokenLimitReached, tokenNotFound } from './errors';
export type { Accounts } from './exports';
export type { KeptData } from './personal-data';
export { newToken, type OwnToken, ownTokens, scopeList, tokenFields } from './schema';
export { ACCOUNT_SCOPE, MANAGE_SCOPE, personalScopes, usualScopes } from './scope';
export type { TokenKind } from './tokens/authenticator';

/** Accounts and their tokens. */
const accounts = definePlugin<Accounts>({
  name: 'accounts',
  requires: [],
  scopes: { [ACCOUNT_SCOPE]: 'Create and revoke tokens, export all data, delete the account' },
  errors: [tokenNotFound, tokenLimitReached],
  emits: [accountClosed, tierChanged],
  tag: {
    name: 'Tokens and data',
    description: 'Tokens, export and deletion of an account.',
  },
  models: [accountModel, tokenModel],
  commands: (commandLine) => {
    commands(commandLine, accounts);
  },
  setup: (host) => {
    const service = new AccountService(host);
    const lists = new AccountLists(host);
    const tokens = new TokenService(host, service);
    const data = new PersonalData(host);
    const expiring = new ExpiringTokens(host);
    return {
      exports: exportsOf(service, lists, tokens, data),
      operations: () => routes(tokens, data),
      identity: service,
      jobs: [expiring.job, data.job],
      readings: [expiring.reading],
    };
  },
});

export default accounts;
