import type { ClientSession } from 'mongoose';

import { boundGarden } from '../../../src/core/gardens';
import type { Host } from '../../../src/plugins/host';
import { tokenModel, type TokenDocument } from '../model';
import type { AccountService } from '../service';
import { valid } from './validity';

/** Tokens that neither the end of their app nor that of a membership has ended. */
export class OpenTokens {
  readonly #tokens;
  readonly #host: Host;
  readonly #accounts: Pick<AccountService, 'grantEnd'>;

  constructor(host: Host, accounts: Pick<AccountService, 'grantEnd'>) {
    this.#host = host;
    this.#accounts = accounts;
    this.#tokens = host.model(tokenModel);
  }

  /** The tokens of an account that requests may use, oldest first. */
  async of(userId: string, now: Date, session?: ClientSession): Promise<TokenDocument[]> {
    const found = this.#tokens.find(valid(userId, now)).sort({ createdAt: 1 });
    const tokens: TokenDocument[] = [];
    for (const token of await found.session(session ?? null).lean()) {
      if (await this.has(token, session)) tokens.push(token);
    }
    return tokens;
  }

  /** Whether the grant of the app that created a token, if any, and the garden of the token are open. */
  async has(
    {
      userId,
      grant,
      garden,
    }: Pick<TokenDocument, 'userId' | 'garden'> & { grant?: string | undefined },
    session?: ClientSession,
  ): Promise<boolean> {
    if (garden && (await boundGarden(garden, userId, this.#host.gardens())) === null) return false;
    return grant === undefined || (await this.#accounts.grantEnd(grant, session)) !== undefined;
  }
}
