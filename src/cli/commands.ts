import { Command } from 'commander';

import { PROJECT } from '../core/settings/project';
import { printableLines } from '../core/text/text';
import { loadPlugins } from '../plugins/loader';
import type { Plugin } from '../plugins/plugin';
import { CommandRunner } from './command-line';
import { hostCommands } from './commands/host-commands';
import { exitOf } from './exit-codes';
import { newUserName } from './values';

/**
 * Runs the command of `args`; returns the exit code. Servers start only if the command needs them.
 *
 * @param given plugins; defaults to those of the command line
 */
export async function runCommand(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  given?: readonly Plugin[],
): Promise<number> {
  try {
    const plugins = given ?? loadPlugins();
    const { version } = PROJECT;
    const printed = args.includes('--json') ? JSON.stringify({ version }) : version;
    const commandLine = new CommandRunner(rootCommand(printed), plugins, env);
    for (const plugin of plugins) plugin.commands?.(commandLine);
    hostCommands(commandLine);
    await commandLine.program.parseAsync(args, { from: 'user' });
    return commandLine.exitCode;
  } catch (error) {
    const { exitCode, message } = exitOf(error);
    if (message !== undefined) process.stderr.write(`${printableLines(message)}\n`);
    return exitCode;
  }
}

function rootCommand(version: string): Command {
  return (
    new Command('npm run --silent cli --')
      .description(
        `Administers the plant care API.

Commands use the data of DATA_DIR (or MONGODB_URI) and read the same environment variables as the server. They work whether or not the server is running.`,
      )
      .version(version, '--version', 'print the version')
      .option('--json', 'print the result as one line of JSON, the last line of standard output')
      .option('--as <name>', 'actor in the audit log (default: your user name)', newUserName)
      // Subcommands inherit settings made before they are added.
      .configureHelp({ showGlobalOptions: true })
      .exitOverride()
      // Error messages repeat arguments, which may contain control characters.
      .configureOutput({
        outputError: (text, write) => {
          write(printableLines(text));
        },
      })
      .showHelpAfterError('Add --help for usage.')
      .addHelpText(
        'after',
        `
Exit codes:
  0  success
  1  failure, or a check found a fault
  2  usage error: unknown command or option, invalid value or environment variable

Examples:
  $ npm run --silent cli -- token create --user ada --tier pro
  $ npm run --silent cli -- token list --json
  $ npm run --silent cli -- token create --help`,
      )
  );
}
