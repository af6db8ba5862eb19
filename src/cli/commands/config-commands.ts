import { type ShownSetting, SettingsError } from '../../core/settings/settings';
import type { CommandRunner } from '../command-line';
import { EXIT } from '../exit-codes';
import { table } from '../table';
import { runChecks } from './doctor-command';

export function configCommands(commandLine: CommandRunner): void {
  const parent = commandLine.program
    .command('config')
    .summary('check and show the settings')
    .description('Checks and shows the settings, which are environment variables.');
  checkCommand(commandLine, parent);
  showCommand(commandLine, parent);
}

type Parent = CommandRunner['program'];

function checkCommand(commandLine: CommandRunner, parent: Parent): void {
  parent
    .command('check')
    .summary('check all settings')
    .description(
      `Checks all settings as the server does when it starts: values, misspelled names, files and folders. Also connects to the mail server, if one is set, without sending. Needs no other server.`,
    )
    .addHelpText(
      'after',
      `
Exit codes:
  0  all settings are valid
  1  the mail server cannot be used
  2  some are invalid; standard error names each on a line

Examples:
  $ npm run --silent cli -- config check
  $ node --env-file=.env dist/src/cli/main.js config check
  $ npm run --silent cli -- config check --json
  {"faults":[]}`,
    )
    .action(async () => {
      try {
        const findings = await runChecks(commandLine.checks, commandLine.serverSettings());
        const faults = findings.filter(({ ok }) => !ok).map(({ finding }) => finding);
        const isGood = faults.length === 0;
        commandLine.print({
          result: { faults },
          text: isGood ? 'All settings are valid.' : faults.join('\n'),
          exitCode: isGood ? EXIT.done : EXIT.failed,
        });
      } catch (error) {
        if (error instanceof SettingsError && commandLine.isJson) {
          commandLine.print({ result: { faults: error.faults }, text: '' });
        }
        throw error;
      }
    });
}

function showCommand(commandLine: CommandRunner, parent: Parent): void {
  parent
    .command('show')
    .summary('show all settings')
    .description(
      `Shows each setting with its value, secrets masked, and its source: the default, the environment, or the file that NAME_FILE names. Needs no server.`,
    )
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- config show
  $ npm run --silent cli -- config show --json
  [{"name":"PORT","value":3000,"source":"default"},…]     printed as one line`,
    )
    .action(() => {
      const settings = commandLine.serverSettings().shown();
      const rows = settings.map(({ name, value, source }) => [name, textOf(value), source]);
      commandLine.print({ result: settings, text: table(['name', 'value', 'source'], rows) });
    });
}

function textOf(value: ShownSetting['value']): string {
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
