import { type Command, InvalidArgumentError, Option } from 'commander';

import { UsageError } from '../../../src/cli/exit-codes';
import { duration, newUserName, tierOption } from '../../../src/cli/values';
import { ACCOUNT_ID, ACCOUNT_ID_RULE, backendId, type Tier } from '../../../src/core/identity';
import { nameFault } from '../../../src/core/text/names';
import type { CommandLine, CommandResult } from '../../../src/plugins/command';
import type { PluginReference } from '../../../src/plugins/host';
import type { Accounts } from '../accounts';
import { MANAGE_SCOPE, personalScopes, usualScopes, YEAR_SECONDS } from '../schema';
import { makeMany, resultOf } from './make-many';
import { readUsers } from './user-list';

/** A longer lifetime is probably a typing error. */
export const MAX_SECONDS = 100 * YEAR_SECONDS;
const MAX_NAME_LENGTH = 100;

interface Options {
  user?: string;
  backend?: string;
  from?: string;
  tier?: Tier;
  scopes?: string[];
  name: string;
  expiresIn: number;
}

/** Adds `token create`. */
export function createToken(
  parent: Command,
  commandLine: CommandLine,
  plugin: PluginReference<Accounts>,
): void {
  const usual = usualScopes(commandLine.scopes);
  parent
    .command('create')
    .summary('create a token, and its account if missing')
    .description(
      `Creates a token for a user, for each user in a file, or for a trusted backend, and prints it. It is shown only once: only its hash is stored. The user's account is created if it is missing.`,
    )
    .option('--user <user>', 'the user whose data it opens, 1 to 128 characters', newUserName)
    .addOption(
      new Option(
        '--from <file>',
        'a CSV file of users, one name,tier per line; creates a token for each',
      ).conflicts(['user', 'tier']),
    )
    .addOption(
      new Option(
        '--backend <name>',
        `a backend trusted with all accounts; its token has only the scope ${MANAGE_SCOPE}`,
      )
        .argParser(backendName)
        .conflicts(['user', 'from', 'tier', 'scopes']),
    )
    .addOption(tierOption("set the account's tier; a new account is free by default"))
    .option(
      '--scopes <scopes>',
      `its scopes, separated by commas (default: ${usual.join(',')})`,
      scopeList(personalScopes(commandLine.scopes)),
    )
    .option('--name <name>', 'a name to recognize it by', tokenName, 'token')
    .option(
      '--expires-in <duration>',
      'its lifetime: seconds, or 15m, 24h, 90d',
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
  $ npm run --silent cli -- token create --from users.csv > tokens.csv
  $ npm run --silent cli -- token create --backend shop --expires-in 90d
  $ npm run --silent cli -- token create --user ada --scopes plants:read --expires-in 90d --json
  {"id":"…","token":"tnd_mcp_…","user":"ada","tier":"pro","scopes":["plants:read"],
   "expiresAt":"2026-03-01T10:30:00.000Z"}     printed as one line`,
    )
    .action(async ({ user, backend, from, tier, scopes = usual, name, expiresIn }: Options) => {
      const wanted = { name, expiresInSeconds: expiresIn };
      if (from !== undefined) {
        const users = await readUsers(from);
        await commandLine.run(async (app) => ({
          pieces: makeMany(
            app.exportsOf(plugin),
            users,
            { ...wanted, scopes },
            app.progress('Tokens', users.length),
          ),
        }));
        return;
      }
      const userId = backend ?? user;
      if (userId === undefined) {
        throw new UsageError(
          'Name the owner of the token: --user USER, --from FILE or --backend NAME.',
        );
      }
      await commandLine.run((app) => {
        const granted = backend === undefined ? scopes : [MANAGE_SCOPE];
        return makeOne(app.exportsOf(plugin), { ...wanted, userId, tier, scopes: granted });
      });
    });
}

async function makeOne(
  accounts: Accounts,
  wanted: Parameters<Accounts['tokens']['createToken']>[0],
): Promise<CommandResult> {
  const result = resultOf(await accounts.tokens.createToken(wanted));
  const { id, token, user, tier, expiresAt } = result;
  return {
    result,
    text: [
      `Token of ${user} (${tier} tier), valid until ${expiresAt.toISOString()}:`,
      token,
      'It will not be shown again. To revoke it:',
      `npm run --silent cli -- token revoke ${id}`,
    ].join('\n'),
  };
}

function backendName(value: string): string {
  if (ACCOUNT_ID.test(value)) return backendId(value);
  throw new InvalidArgumentError(`It ${ACCOUNT_ID_RULE}.`);
}

function scopeList(known: readonly string[]) {
  return (value: string): string[] => {
    const scopes = [...new Set(value.split(',').map((scope) => scope.trim()))];
    const unknown = scopes.find((scope) => !known.includes(scope));
    if (unknown === undefined) return scopes;
    throw new InvalidArgumentError(
      `There is no scope "${unknown}"; choose from ${known.join(', ')}.`,
    );
  };
}

function tokenName(value: string): string {
  const fault = nameFault(value, MAX_NAME_LENGTH);
  if (fault === undefined) return value;
  throw new InvalidArgumentError(`It ${fault}.`);
}
