import { definePlugin } from '../../src/plugins/define';
import { commands } from './commands';
import { accountModel, tokenModel } from './model';
import { AccountService } from './service';

/** Accounts and their tokens: who a caller is. */
const accounts = definePlugin<AccountService>({
  name: 'accounts',
  requires: [],
  models: [accountModel, tokenModel],
  commands: (commandLine) => {
    commands(commandLine, accounts);
  },
  setup: (host) => {
    const service = new AccountService(host);
    return { offers: service, identity: service };
  },
});

export default accounts;
