import { checkOffline, checkOnline, fault, type Finding, good } from '../../app/doctor';
import type { CommandResult } from '../../plugins/command';
import { type Settings, SettingsError } from '../../core/settings/settings';
import type { CommandRunner } from '../command-line';
import { EXIT, exitOf } from '../exit-codes';
import { counted, table } from '../table';

/** Adds `doctor`. */
export function doctorCommand(commandLine: CommandRunner): void {
  commandLine.program
    .command('doctor')
    .summary('check all that the service needs, and say what to do')
    .description(
      `Checks settings, disk, rights of files, versions, the replica set, migrations, indexes, the clock, the certificate, the last backup, all derived data, and whether any that was stored would not be taken any more. Each fault is a sentence that says what to do. It changes nothing, and may run while the service does.`,
    )
    .option('--quick', 'leave out what is looked at account by account, derived data above all')
    .addHelpText(
      'after',
      `
Exit codes:
  0  all is well
  1  something is not

Examples:
  $ npm run --silent cli -- doctor --quick
  $ npm run --silent cli -- doctor --json
  [{"check":"settings","ok":true,"finding":"all are right"},…]     printed as one line`,
    )
    .action(async ({ quick = false }: { quick?: boolean }) => {
      const { settings, findings } = checkSettings(commandLine);
      if (settings) {
        findings.push(...(await checkOffline(settings)));
        findings.push(...(await checkServers(commandLine, quick)));
      }
      commandLine.print(resultOf(findings));
    });
}

function checkSettings(commandLine: CommandRunner): { settings?: Settings; findings: Finding[] } {
  try {
    const settings = commandLine.serverSettings();
    return { settings, findings: [good('settings', 'all are right')] };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { findings: error.faults.map((each) => fault('settings', `${each}: set it right.`)) };
  }
}

async function checkServers(commandLine: CommandRunner, quick: boolean): Promise<Finding[]> {
  try {
    return await commandLine.withProgram((program) => checkOnline(program, { quick }), {
      leaveSchema: true,
    });
  } catch (error) {
    return [fault('servers', exitOf(error).message ?? 'The servers cannot be started.')];
  }
}

function resultOf(findings: readonly Finding[]): CommandResult {
  const rows = findings.map(({ check, ok, finding }) => [ok ? 'ok' : 'FAULT', check, finding]);
  const faults = findings.filter(({ ok }) => !ok).length;
  const summary =
    faults === 0
      ? 'All is well.'
      : `There ${faults === 1 ? 'is' : 'are'} ${counted(faults, 'fault')}.`;
  return {
    result: findings,
    text: `${table(['', 'check', 'found'], rows)}\n${summary}`,
    exitCode: faults === 0 ? EXIT.done : EXIT.failed,
  };
}
