import type { CommandLine } from '../../../src/plugins/command';
import type { PluginReference } from '../../../src/plugins/host';
import type { Accounts } from '../accounts';
import { tokenCommands } from './token-commands';
import { userCommands } from './user-commands';

/** Adds the commands of `token` and `user`. */
export function commands(commandLine: CommandLine, plugin: PluginReference<Accounts>): void {
  tokenCommands(commandLine, plugin);
  userCommands(commandLine, plugin);
}
