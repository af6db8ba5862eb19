import { text } from 'node:stream/consumers';

import type { Command } from 'commander';

import { counted, table } from '../../../src/cli/table';
import { duration, userName, uuid } from '../../../src/cli/values';
import { UsageError } from '../../../src/cli/exit-codes';
import { OperatorError } from '../../../src/core/errors';
import type { CommandLine } from '../../../src/plugins/command';
import type { PluginReference } from '../../../src/plugins/host';
import type { Accounts } from '../accounts';
import type { TokenView } from '../tokens/views';
import { createToken, MAX_SECONDS } from './create-token';
import { rotateToken, pruneTokens } from './token-upkeep-commands';

/** Adds the commands of `token`. */
export function tokenCommands(commandLine: CommandLine, plugin: PluginReference<Accounts>): void {
  const parent = commandLine.program
    .command('token')
    .summary('create, list, rotate, revoke and prune tokens')
    .description('Creates, lists, rotates, revokes and prunes tokens.');
  createToken(parent, commandLine, plugin);
  listTokens(parent, commandLine, plugin);
  rotateToken(parent, commandLine, plugin);
  revokeToken(parent, commandLine, plugin);
  pruneTokens(parent, commandLine, plugin);
}

function listTokens(
  parent: Command,
  commandLine: CommandLine,
  plugin: PluginReference<Accounts>,
): void {
  parent
    .command('list')
    .summary('list tokens')
    .description(
      'Lists tokens, including revoked and expired ones. The tokens themselves are not stored.',
    )
    .option('--user <user>', 'only those of this user', userName)
    .option(
      '--expiring <duration>',
      'only valid ones that expire within this time: seconds, or 15m, 24h, 30d',
      duration(1, MAX_SECONDS),
    )
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- token list --user ada --json
  $ npm run --silent cli -- token list --expiring 30d`,
    )
    .action(({ user, expiring }: { user?: string; expiring?: number }) =>
      commandLine.read(async (app) => {
        const now = new Date();
        const accounts = app.exportsOf(plugin);
        if (user !== undefined) await accounts.requireUser(user);
        const all = await accounts.tokens.tokens(user);
        const tokens = expiring === undefined ? all : all.filter(expiresWithin(expiring, now));
        const rows = tokens.map((token) => [
          token.id,
          token.user,
          token.name,
          token.scopes.join(','),
          stateOf(token, now),
          token.lastUsedAt?.toISOString() ?? 'never',
        ]);
        const headings = ['id', 'user', 'name', 'scopes', 'state', 'last used'];
        return { result: tokens, text: rows.length > 0 ? table(headings, rows) : 'No tokens.' };
      }),
    );
}

function expiresWithin(seconds: number, now: Date) {
  return ({ revokedAt, expiresAt }: TokenView): boolean => {
    const left = expiresAt.getTime() - now.getTime();
    return revokedAt === null && left > 0 && left <= seconds * 1000;
  };
}

function revokeToken(
  parent: Command,
  commandLine: CommandLine,
  plugin: PluginReference<Accounts>,
): void {
  parent
    .command('revoke')
    .summary('revoke a token, or all of a user')
    .description(
      'Revokes a token, or all tokens of a user, permanently and from the next request on. --user also revokes the tokens of authorized apps.',
    )
    .argument(
      '[id]',
      'id of the token, as "token list" shows it; - reads the token itself from standard input',
      idOrInput,
    )
    .option('--user <user>', 'revoke all tokens of this user', userName)
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- token revoke 019b2f6e-51a0-7c3e-9d59-0d5c0a2f7b11
  $ npm run --silent cli -- token revoke - < leaked-token.txt
  $ npm run --silent cli -- token revoke --user ada`,
    )
    .action(async (given: string | undefined, { user }: { user?: string }) => {
      if ((given === undefined) === (user === undefined)) {
        throw new UsageError(
          'Name a token by its id, - for one on standard input, or --user USER.',
        );
      }
      const secret = given === '-' ? (await text(process.stdin)).trim() : undefined;
      await commandLine.change(async (app) => {
        const accounts = app.exportsOf(plugin);
        if (user !== undefined) {
          await accounts.requireUser(user);
          const revoked = await accounts.tokens.revokeTokensOf(user);
          const what = counted(revoked.length, 'token');
          return { result: { user, revoked: revoked.length }, text: `${what} of ${user} revoked.` };
        }
        const id = secret === undefined ? given : await accounts.tokens.idOf(secret);
        const token = id === undefined ? undefined : await accounts.tokens.revokeToken(id);
        // Standard input may have held some other secret.
        if (!token)
          throw new OperatorError(
            `There is no ${secret === undefined ? `token ${given}` : 'such token'}.`,
          );
        return { result: token, text: `The token ${token.name} of ${token.user} is revoked.` };
      });
    });
}

function idOrInput(value: string): string {
  return value === '-' ? value : uuid(value);
}

function stateOf({ revokedAt, expiresAt }: TokenView, now: Date): string {
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`;
  return `${expiresAt <= now ? 'expired' : 'valid until'} ${expiresAt.toISOString()}`;
}
