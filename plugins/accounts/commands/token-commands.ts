import { type Command, InvalidArgumentError } from 'commander';

import { table } from '../../../src/cli/table';
import { duration, tierOption, userName, uuid } from '../../../src/cli/values';
import { CommandError } from '../../../src/cli/errors';
import type { Tier } from '../../../src/core/identity';
import { nameFault } from '../../../src/core/names';
import type { CommandLine } from '../../../src/plugins/command';
import type { PluginReference } from '../../../src/plugins/reference';
import type { Accounts } from '../exports';
import type { TokenView } from '../tokens/service';
import { rotateToken, pruneTokens } from './token-upkeep-commands';

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
  parent
    .command('create')
    .summary('make a token, and its account when there is none')
    .description(
      `Makes a token for a user and prints it. It is shown this once: only a hash of it is kept. The user's account is made when there is none.`,
    )
    .requiredOption('--user <user>', 'whose data it opens, 1 to 128 characters', userName)
    .addOption(tierOption("set the account's tier; a new account is free without it"))
    .option('--scopes <scopes>', 'what it permits, by comma; all when left out', scopeList(known))
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
            scopes: options.scopes ?? known,
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
    .summary('revoke a token')
    .description('Revokes a token, from the next request on and for good.')
    .argument('<id>', 'id of the token, as "token list" shows it', uuid)
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run --silent cli -- token revoke 019b2f6e-51a0-7c3e-9d59-0d5c0a2f7b11',
    )
    .action((id: string) =>
      commandLine.run(async (app) => {
        const token = await app.exportsOf(plugin).revokeToken(id);
        if (!token) throw new CommandError(`There is no token ${id}.`);
        return { result: token, text: `The token ${token.name} of ${token.user} is revoked.` };
      }),
    );
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
