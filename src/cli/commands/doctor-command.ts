import type { OnlineCheck } from '../../app/doctor/check';
import type { Settings } from '../../core/settings/settings';
import { fault, type Finding, type OfflineCheck } from '../../plugins/check';
import type { CommandResult } from '../../plugins/command';
import type { CommandRunner } from '../command-line';
import { EXIT, exitOf } from '../exit-codes';
import { counted, table } from '../table';
import { derived } from '../../app/doctor/data';
import { certificate, disk, lastBackup, rights } from '../../app/doctor/machine';
import { mongodb } from '../../app/doctor/mongodb';

export function doctorCommand(commandLine: CommandRunner): void {
  commandLine.program
    .command('doctor')
    .summary('diagnose problems')
    .description(
      `Checks what neither the start of a server, nor /readyz, nor config check says: disk space, file permissions, the certificate, the last backup, the mail server, MongoDB, its replica set and clock, and derived data. Says how to fix each fault, changes nothing, and can run while the server is running.`,
    )
    .option('--quick', 'skip checks that read all data')
    .addHelpText(
      'after',
      `
Exit codes:
  0  no faults
  1  at least one fault

Examples:
  $ npm run --silent cli -- doctor --quick
  $ npm run --silent cli -- doctor --json
  [{"check":"certificate","ok":true,"finding":"valid until 2027-03-01"},…]     printed as one line`,
    )
    .action(async ({ quick = false }: { quick?: boolean }) => {
      const offline = await runChecks(
        [disk, rights, certificate, lastBackup, ...commandLine.checks],
        commandLine.serverSettings(),
      );
      commandLine.print(resultOf([...offline, ...(await checkServers(commandLine, quick))]));
    });
}

async function checkServers(commandLine: CommandRunner, quick: boolean): Promise<Finding[]> {
  try {
    return await commandLine.withProgram((program) => checkOnline(program, { quick }), {
      access: 'read',
    });
  } catch (error) {
    return [fault('servers', exitOf(error).message ?? 'MongoDB or Redis cannot be started.')];
  }
}

function resultOf(findings: readonly Finding[]): CommandResult {
  const rows = findings.map(({ check, ok, finding }) => [ok ? 'ok' : 'FAULT', check, finding]);
  const faults = findings.filter(({ ok }) => !ok).length;
  const summary = faults === 0 ? 'No faults found.' : `${counted(faults, 'fault')} found.`;
  return {
    result: findings,
    text: `${table(['', 'check', 'found'], rows)}\n${summary}`,
    exitCode: faults === 0 ? EXIT.done : EXIT.failed,
  };
}

/** Runs checks that need neither MongoDB nor Redis. */
export async function runChecks(
  checks: readonly OfflineCheck[],
  settings: Settings,
): Promise<Finding[]> {
  return (await Promise.all(checks.map((check) => check(settings)))).flat();
}

/**
 * Runs the checks that need MongoDB and Redis.
 *
 * @param options.quick whether to skip checks that read all data
 */
async function checkOnline(
  running: Parameters<OnlineCheck>[0],
  { quick }: { quick: boolean },
): Promise<Finding[]> {
  const found = await mongodb(running);
  return quick ? found : [...found, ...(await derived(running))];
}
