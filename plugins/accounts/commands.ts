import type { CommandLine, Plugin } from '../../src/plugins/manifest';
import type { AccountService } from './service';
import { tokenCommands } from './token-commands';
import { userCommands } from './user-commands';

/** Adds the commands by which operators keep accounts and tokens. */
export function commands(commandLine: CommandLine, plugin: Plugin<AccountService>): void {
  tokenCommands(commandLine, plugin);
  userCommands(commandLine, plugin);
}
