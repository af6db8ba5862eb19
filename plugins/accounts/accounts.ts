import type { Account } from '../../src/core/identity';
import type { Host } from '../../src/plugins/host';
import { unknownUser } from './errors';
import { AccountLists } from './lists';
import { PersonalData } from './personal-data';
import { AccountService } from './service';
import { TokenService } from './tokens/service';

/** What other plugins use: accounts, their tokens and their data. */
export class Accounts extends AccountService {
  readonly lists: AccountLists;
  readonly tokens: TokenService;
  readonly data: PersonalData;

  constructor(host: Host) {
    super(host);
    this.lists = new AccountLists(host);
    this.tokens = new TokenService(host, this);
    this.data = new PersonalData(host);
  }

  /** The account that a command names. @throws OperatorError if there is none */
  async requireUser(userId: string): Promise<Account> {
    const account = await this.account(userId);
    if (!account) throw unknownUser(userId);
    return account;
  }
}
