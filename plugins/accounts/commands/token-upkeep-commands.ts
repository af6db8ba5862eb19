import type { Command } from 'commander';

import { OperatorError } from '../../../src/core/errors';
import { counted } from '../../../src/cli/table';
import { duration, uuid } from '../../../src/cli/values';
import { DAY_MS } from '../../../src/core/time';
import { reasonOf } from '../../../src/core/values';
import type { CommandLine } from '../../../src/plugins/command';
import type { PluginReference } from '../../../src/plugins/host';
import type { Accounts } from '../accounts';

const DAY_SECONDS = DAY_MS / 1000;
/** A longer overlap is no longer a rotation. */
const MAX_OVERLAP_SECONDS = 90 * DAY_SECONDS;

/** Adds `token rotate`. */
export function rotateToken(
  parent: Command,
  commandLine: CommandLine,
  plugin: PluginReference<Accounts>,
): void {
  parent
    .command('rotate')
    .summary('replace a token with a new one')
    .description(
      `Creates a token with the user, name, scopes and lifetime of another, and prints it, only once. The old one expires after the overlap, or earlier if it was about to.`,
    )
    .argument('<id>', 'id of the token, as "token list" shows it', uuid)
    .option(
      '--overlap <duration>',
      'how long the old one stays valid: seconds, or 15m, 24h, 7d',
      duration(0, MAX_OVERLAP_SECONDS),
      DAY_SECONDS,
    )
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- token rotate 019b2f6e-51a0-7c3e-9d59-0d5c0a2f7b11
  $ npm run --silent cli -- token rotate 019b2f6e-51a0-7c3e-9d59-0d5c0a2f7b11 --overlap 15m --json
  {"id":"…","token":"tnd_mcp_…","user":"ada","scopes":["plants:read"],
   "expiresAt":"2027-03-01T10:30:00.000Z",
   "rotated":{"id":"…","expiresAt":"2026-03-01T10:45:00.000Z"}}     printed as one line`,
    )
    .action((oldId: string, { overlap }: { overlap: number }) =>
      commandLine.change(async (app) => {
        const made = await app.exportsOf(plugin).tokens.rotateToken(oldId, overlap);
        if (!made) throw new OperatorError(`There is no token ${oldId}.`);
        const { token, view, rotated } = made;
        const { id, user, scopes, expiresAt } = view;
        return {
          result: {
            id,
            token,
            user,
            scopes,
            expiresAt,
            rotated: { id: oldId, expiresAt: rotated.expiresAt },
          },
          text: [
            `New token of ${user}, valid until ${expiresAt.toISOString()}:`,
            token,
            `It will not be shown again. The old one is valid until ${rotated.expiresAt.toISOString()}.`,
          ].join('\n'),
        };
      }),
    );
}

/** Adds `token prune`. */
export function pruneTokens(
  parent: Command,
  commandLine: CommandLine,
  plugin: PluginReference<Accounts>,
): void {
  parent
    .command('prune')
    .summary('delete expired tokens')
    .description('Deletes expired tokens; the audit log lists them.')
    .addHelpText('after', '\nExample:\n  $ npm run --silent cli -- token prune --json')
    .action(() =>
      commandLine.change(async (app) => {
        const { deleted, failure } = await app.exportsOf(plugin).tokens.pruneTokens();
        const text = `${counted(deleted, 'token')} deleted`;
        if (failure !== undefined) {
          throw new OperatorError(`${text}, but not those of every account: ${reasonOf(failure)}`);
        }
        return { result: { deleted }, text: `${text}.` };
      }),
    );
}
