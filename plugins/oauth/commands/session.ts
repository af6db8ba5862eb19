import { UsageError } from '../../../src/cli/exit-codes';
import { OperatorError } from '../../../src/core/errors';
import { counted, table } from '../../../src/cli/table';
import { userName, uuid } from '../../../src/cli/values';
import type { CommandLine } from '../../../src/plugins/command';
import type { PluginReference } from '../../../src/plugins/host';
import type { SignIns } from './sign-ins';

/** Adds the commands of `session`. */
export function sessionCommands(commandLine: CommandLine, plugin: PluginReference<SignIns>): void {
  const parent = commandLine.program
    .command('session')
    .summary('list and end sessions')
    .description('Lists and ends the sessions of people who are signed in with a browser.');
  parent
    .command('list')
    .summary('list sessions')
    .description('Lists the sessions of people who are signed in with a browser.')
    .option('--user <user>', 'only those of this user', userName)
    .addHelpText('after', '\nExample:\n  $ npm run --silent cli -- session list --user ada --json')
    .action(({ user }: { user?: string }) =>
      commandLine.read(async (app) => {
        const sessions = await app.exportsOf(plugin).sessions(user);
        const rows = sessions.map((each) => [
          each.id,
          each.user,
          each.since.toISOString(),
          each.expiresAt.toISOString(),
        ]);
        const headings = ['id', 'user', 'since', 'until'];
        return { result: sessions, text: rows.length > 0 ? table(headings, rows) : 'No sessions.' };
      }),
    );
  parent
    .command('end')
    .summary('sign somebody out')
    .description(
      'Ends a session, or all of a user, from the next request on. Authorized apps keep their access.',
    )
    .argument('[id]', 'id of the session, as "session list" shows it', uuid)
    .option('--user <user>', 'end all sessions of this user', userName)
    .addHelpText('after', '\nExample:\n  $ npm run --silent cli -- session end --user ada')
    .action((id: string | undefined, { user }: { user?: string }) => {
      const which =
        id === undefined ? user !== undefined && { user } : user === undefined && { id };
      if (which === false) throw new UsageError('Name a session by its id, or --user USER.');
      return commandLine.change(async (app) => {
        const ended = await app.exportsOf(plugin).endSessions(which);
        if (id !== undefined && ended.length === 0) {
          throw new OperatorError(`There is no session ${id}.`);
        }
        return {
          result: { ended: ended.length },
          text: `${counted(ended.length, 'session')} ended.`,
        };
      });
    });
}
