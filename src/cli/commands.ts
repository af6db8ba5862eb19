import { Command } from 'commander';

import { PROJECT } from '../core/settings/project';
import { printable } from '../core/text/text';
import { loadPlugins } from '../plugins/loader';
import type { Plugin } from '../plugins/plugin';
import { CommandRunner } from './command-line';
import { hostCommands } from './commands/host-commands';
import { exitOf } from './exit-codes';
import { userName } from './values';

/**
 * Does what `args` say and answers the exit code. Nothing is started before a command asks for it.
 *
 * @param given the plugins; those of the program where left out
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
    if (message !== undefined) process.stderr.write(`${message}\n`);
    return exitCode;
  }
}

function rootCommand(version: string): Command {
  return (
    new Command('npm run --silent cli --')
      .description(
        `Operates the plant care API: accounts and their tokens, seeds, demo data, checks.

Commands work on the data of DATA_DIR (or MONGODB_URI), whether the server runs or not, and read the same environment variables as the server does.`,
      )
      .version(version, '--version', 'print the version of the program')
      .option('--json', 'print the result as one line of JSON, the last of standard output')
      .option('--as <name>', 'who the audit log says did it, instead of your user name', userName)
      // Commands inherit what is set before they are added.
      .configureHelp({ showGlobalOptions: true })
      .exitOverride()
      // What was given is said again, whatever is hidden in it.
      .configureOutput({
        outputError: (text, write) => {
          write(text.split('\n').map(printable).join('\n'));
        },
      })
      .showHelpAfterError('Add --help to see how it is used.')
      .addHelpText(
        'after',
        `
Exit codes:
  0  done
  1  failed, or found a fault; standard error says which
  2  used wrongly: unknown command or option, bad value, bad environment variable

Examples:
  $ npm run --silent cli -- token create --user ada --tier pro
  $ npm run --silent cli -- token list --json
  $ npm run --silent cli -- token create --help`,
      )
  );
}
