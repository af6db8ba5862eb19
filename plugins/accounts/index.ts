import { definePlugin } from '../../src/plugins/plugin';
import { accountChanged } from './domain-events';
import { commands } from './commands';
import { ExpiringTokens } from './expiring-tokens';
import { accountModel, tokenModel } from './model';
import { type Accounts, AccountService } from './service';

export type { Accounts } from './service';

/** Accounts and their tokens: who a caller is. */
const accounts = definePlugin<Accounts>({
  name: 'accounts',
  requires: [],
  emits: [accountChanged],
  models: [accountModel, tokenModel],
  commands: (commandLine) => {
    commands(commandLine, accounts);
  },
  setup: (host) => {
    const service = new AccountService(host);
    const expiring = new ExpiringTokens(host);
    return {
      exports: service,
      identity: service,
      jobs: [expiring.job],
      readings: [expiring.reading],
    };
  },
});

export default accounts;
