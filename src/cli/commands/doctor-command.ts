import { fault, type Finding, good, type OnlineCheck } from '../../app/doctor/check';
import type { CommandResult } from '../../plugins/command';
import { type Settings, SettingsError } from '../../core/settings/settings';
import type { CommandRunner } from '../command-line';
import { EXIT, exitOf } from '../exit-codes';
import { counted, table } from '../table';
import { derived, storedData, storedSchema } from '../../app/doctor/data';
import { certificate, disk, lastBackup, node, rights } from '../../app/doctor/machine';
import { mongodb, redis, server } from '../../app/doctor/servers';

export function doctorCommand(commandLine: CommandRunner): void {
  commandLine.program
    .command('doctor')
    .summary('diagnose problems')
    .description(
      `Checks settings, disk space, file permissions, versions, the replica set, migrations, indexes, the clock, the certificate, the last backup, derived data and stored data, and says how to fix each fault. It changes nothing and can run while the server is running.`,
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
  [{"check":"settings","ok":true,"finding":"all are valid"},…]     printed as one line`,
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
    return { settings, findings: [good('settings', 'all are valid')] };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { findings: error.faults.map((each) => fault('settings', `${each}: correct it.`)) };
  }
}

async function checkServers(commandLine: CommandRunner, quick: boolean): Promise<Finding[]> {
  try {
    return await commandLine.withProgram((program) => checkOnline(program, { quick }), {
      access: 'read',
      leaveSchema: true,
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

/** Runs the checks that need no server. */
async function checkOffline(settings: Settings): Promise<Finding[]> {
  const checks = [node, disk, rights, certificate, lastBackup, server];
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
  const [ofMongodb, ofRedis] = await Promise.all([mongodb(running), redis(running)]);
  const schema = await storedSchema(running);
  const found = [...ofMongodb, ...ofRedis, ...schema];
  // This release cannot derive anything from data of another one.
  if (quick || schema.some(({ ok }) => !ok)) return found;
  return [...found, ...(await derived(running)), ...(await storedData(running))];
}
