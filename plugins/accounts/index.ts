import { definePlugin } from '../../src/plugins/plugin';
import { commands } from './commands';
import { type Accounts, exportsOf } from './exports';
import { accountModel, tokenModel } from './model';
import { PersonalData } from './personal-data';
import { AccountService } from './service';
import { ExpiringTokens } from './tokens/expiring-tokens';
import { TokenService } from './tokens/service';

export type { Accounts } from './exports';

/** Accounts and their tokens: who a caller is. */
const accounts = definePlugin<Accounts>({
  name: 'accounts',
  requires: [],
  models: [accountModel, tokenModel],
  commands: (commandLine) => {
    commands(commandLine, accounts);
  },
  setup: (host) => {
    const service = new AccountService(host);
    const tokens = new TokenService(host, service);
    const expiring = new ExpiringTokens(host);
    return {
      exports: exportsOf(service, tokens, new PersonalData(host)),
      identity: service,
      jobs: [expiring.job],
      readings: [expiring.reading],
    };
  },
});

export default accounts;
