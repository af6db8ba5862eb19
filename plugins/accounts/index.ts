import { definePlugin } from '../../src/plugins/plugin';
import { Accounts } from './accounts';
import { tokenCommands } from './commands/token-commands';
import { userCommands } from './commands/user-commands';
import { accountClosed, reminderTimeChanged, tierChanged } from './domain-events';
import { personalData } from './migrations/0001-personal-data';
import { accountModel, tokenModel } from './model';
import { ExpiringTokens } from './tokens/expiring-tokens';
import { tokenLimitReached, tokenNotFound } from './errors';
import { routes } from './routes';
import { ACCOUNT_SCOPE } from './schema';

export { tokenLimitReached, tokenNotFound } from './errors';
export type { Accounts } from './accounts';
export { isLost, type RevisionPosition, type RevisionStream } from './revision-stream';
export { BINDING, PREFERENCES } from './model';
export type { KeptData } from './personal-data';
export {
  ACCOUNT_SCOPE,
  MANAGE_SCOPE,
  newToken,
  type OwnToken,
  ownTokens,
  personalScopes,
  scopeList,
  tokenFields,
  usualScopes,
} from './schema';
export { ACCESS_TOKEN_PREFIX, hasToken, isAccessToken, isJwt } from './tokens/token';
export type { TokenKind } from './tokens/authenticator';

/** Accounts and their tokens. */
const accounts = definePlugin<Accounts>({
  name: 'accounts',
  requires: [],
  scopes: { [ACCOUNT_SCOPE]: 'Create and revoke tokens, export all data, delete the account' },
  errors: [tokenNotFound, tokenLimitReached],
  emits: [accountClosed, tierChanged, reminderTimeChanged],
  tag: {
    name: 'Tokens and data',
    description: 'Tokens, export and deletion of an account.',
  },
  models: [accountModel, tokenModel],
  migrations: [personalData],
  commands: (commandLine) => {
    tokenCommands(commandLine, accounts);
    userCommands(commandLine, accounts);
  },
  setup: (host) => {
    const service = new Accounts(host);
    const { tokens, data } = service;
    const expiring = new ExpiringTokens(host);
    return {
      exports: service,
      operations: () => routes(tokens, data, host),
      identity: service,
      jobs: [expiring.job, data.job],
      readings: [expiring.reading],
    };
  },
});

export default accounts;
