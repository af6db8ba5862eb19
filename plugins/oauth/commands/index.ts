import { UsageError } from '../../../src/cli/exit-codes';
import type { CommandLine } from '../../../src/plugins/command';
import type { PluginReference } from '../../../src/plugins/host';
import { clientCommands } from './client';
import { invite } from './invite';
import { sessionCommands } from './session';
import type { SignIns } from './sign-ins';

/** Adds `user invite`, `client` and `session`. */
export function commands(commandLine: CommandLine, plugin: PluginReference<SignIns>): void {
  const user = commandLine.program.commands.find((each) => each.name() === 'user');
  if (!user) throw new UsageError('There are no commands of user.');
  invite(user, commandLine, plugin);
  clientCommands(commandLine, plugin);
  sessionCommands(commandLine, plugin);
}
