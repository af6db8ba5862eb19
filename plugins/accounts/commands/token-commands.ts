import { text } from 'node:stream/consumers';

import { type Command, InvalidArgumentError } from 'commander';

import { counted, table } from '../../../src/cli/table';
import { duration, tierOption, userName, uuid } from '../../../src/cli/values';
import { CommandError, UsageError } from '../../../src/cli/errors';
import type { Tier } from '../../../src/core/identity';
import { nameFault } from '../../../src/core/names';
import type { CommandLine } from '../../../src/plugins/command';
import type { PluginReference } from '../../../src/plugins/reference';
import type { Accounts } from '../exports';
import { ACCOUNT_SCOPE } from '../scope';
import type { TokenView } from '../tokens/service';
import { rotateToken, pruneTokens } from './token-upkeep-commands';
import { unknownUser } from './user-data-commands';

const YEAR_SECONDS = 365 * 24 * 60 * 60;
/** A longer life is a slip of the hand. */
const MAX_SECONDS = 100 * YEAR_SECONDS;
const MAX_NAME_LENGTH = 100;

/** Adds the commands of `token`. */
export function tokenCommands(commandLine: CommandLine, plugin: PluginReference<Accounts>): void {
  const parent = commandLine.program
    .command('token')
    .summary('make, list, rotate, revoke and prune tokens')
    .description('Makes, lists, rotates, revokes and prunes tokens.');
  createToken(parent, commandLine, plugin);
  listTokens(parent, commandLine, plugin);
  rotateToken(parent, commandLine, plugin);
  revokeToken(parent, commandLine, plugin);
  pruneTokens(parent, commandLine, plugin);
}

function createToken(
  parent: Command,
  commandLine: CommandLine,
  plugin: PluginReference<Accounts>,
): void {
  const known = [...commandLine.scopes.keys()];
  // What opens the account itself is asked for by name.
  const usual = known.filter((scope) => scope !== ACCOUNT_SCOPE);
  parent
    .command('create')
    .summary('make a token, and its account when there is none')
    .description(
      `Makes a token for a user and prints it. It is shown this once: only a hash of it is kept. The user's account is made when there is none.`,
    )
    .requiredOption('--user <user>', 'whose data it opens, 1 to 128 characters', userName)
    .addOption(tierOption("set the account's tier; a new account is free without it"))
    .option(
      '--scopes <scopes>',
      `what it permits, by comma; ${usual.join(',')} when left out`,
      scopeList(known),
    )
    .option('--name <name>', 'a name to recognize it by', tokenName, 'token')
    .option(
      '--expires-in <duration>',
      'how long it is good for: seconds, or 15m, 24h, 90d',
      duration(1, MAX_SECONDS),
      YEAR_SECONDS,
    )
    .addHelpText(
      'after',
      `
Scopes:
${[...commandLine.scopes].map(([scope, meaning]) => `  ${scope.padEnd(16)}${meaning}`).join('\n')}

Examples:
  $ npm run --silent cli -- token create --user ada --tier pro
  $ npm run --silent cli -- token create --user ada --scopes plants:read --expires-in 90d --json
  {"id":"…","token":"tnd_mcp_…","user":"ada","tier":"pro","scopes":["plants:read"],
   "expiresAt":"2026-03-01T10:30:00.000Z"}     printed as one line`,
    )
    .action(
      (options: {
        user: string;
        tier?: Tier;
        scopes?: string[];
        name: string;
        expiresIn: number;
      }) =>
        commandLine.run(async (app) => {
          const { token, view, tier } = await app.exportsOf(plugin).createToken({
            userId: options.user,
            tier: options.tier,
            scopes: options.scopes ?? usual,
            name: options.name,
            expiresInSeconds: options.expiresIn,
          });
          const { id, user, scopes, expiresAt } = view;
          return {
            result: { id, token, user, tier, scopes, expiresAt },
            text: [
              `Token of ${user} (${tier} tier), good until ${expiresAt.toISOString()}:`,
              token,
              'It is not shown again. To revoke it:',
              `npm run --silent cli -- token revoke ${id}`,
            ].join('\n'),
          };
        }),
    );
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
      'Lists tokens, the revoked and expired included. The tokens themselves are not kept.',
    )
    .option('--user <user>', 'only those of this user', userName)
    .option(
      '--expiring <duration>',
      'only good ones that expire within so long: seconds, or 15m, 24h, 30d',
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
      commandLine.run(async (app) => {
        const now = new Date();
        const all = await app.exportsOf(plugin).tokens(user);
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
    .description('Revokes a token, or all tokens of a user, from the next request on and for good.')
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
      await commandLine.run(async (app) => {
        const accounts = app.exportsOf(plugin);
        if (user !== undefined) {
          if (!(await accounts.account(user))) throw unknownUser(user);
          const revoked = await accounts.revokeTokensOf(user);
          const what = counted(revoked.length, 'token');
          return { result: { user, revoked: revoked.length }, text: `${what} of ${user} revoked.` };
        }
        const id = secret === undefined ? given : await accounts.idOf(secret);
        const token = id === undefined ? undefined : await accounts.revokeToken(id);
        // What was on standard input may be a secret of something else.
        if (!token)
          throw new CommandError(
            `There is no token ${secret === undefined ? given : 'like this'}.`,
          );
        return { result: token, text: `The token ${token.name} of ${token.user} is revoked.` };
      });
    });
}

function idOrInput(value: string): string {
  return value === '-' ? value : uuid(value);
}

function scopeList(known: readonly string[]) {
  return (value: string): string[] => {
    const scopes = [...new Set(value.split(',').map((scope) => scope.trim()))];
    const unknown = scopes.find((scope) => !known.includes(scope));
    if (unknown === undefined) return scopes;
    throw new InvalidArgumentError(
      `There is no scope "${unknown}"; known are ${known.join(', ')}.`,
    );
  };
}

function tokenName(value: string): string {
  const fault = nameFault(value, MAX_NAME_LENGTH);
  if (fault === undefined) return value;
  throw new InvalidArgumentError(`It ${fault}.`);
}

function stateOf({ revokedAt, expiresAt }: TokenView, now: Date): string {
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`;
  return `${expiresAt <= now ? 'expired' : 'good until'} ${expiresAt.toISOString()}`;
}
