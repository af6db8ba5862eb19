import type { Command } from 'commander';

import { jsonArray } from '../../core/text/json';
import { printable } from '../../core/text/text';
import type { AuditFilter, AuditLog } from '../../data/audit/audit-log';
import { type Actor, type AuditEntry, chainName } from '../../data/audit/entry';
import type { Verification } from '../../data/audit/verify';
import type { CommandResult } from '../../plugins/command';
import type { CommandRunner } from '../command-line';
import { EXIT } from '../exit-codes';
import { withProgress } from '../progress';
import { counted, table } from '../table';
import { pastMoment, userName } from '../values';
import { listRoutes } from './audit-routes';

export function auditCommands(commandLine: CommandRunner): void {
  const parent = commandLine.program
    .command('audit')
    .summary('show and check the audit log, list all operations')
    .description('Shows, exports and verifies the audit log; lists all operations.');
  showLog(parent, commandLine);
  exportLog(parent, commandLine);
  verifyLog(parent, commandLine);
  listRoutes(parent, commandLine);
}

interface LogOptions extends Omit<AuditFilter, 'userId' | 'withDeleted' | 'withGuests'> {
  user?: string;
}

function showLog(parent: Command, commandLine: CommandRunner): void {
  parent
    .command('log')
    .summary('show the audit log')
    .description(
      `Shows the audit log, oldest entry first: tokens created, first used, rotated, revoked and pruned; accounts created, changed, exported and deleted; sign-ins and authorized apps; records deleted permanently; repairs, seeds, migrations, backups, restores and server starts.`,
    )
    .option(
      '--user <user>',
      'only entries about the account of this user, even if it was deleted',
      userName,
    )
    .option('--actor <name>', 'only actions of this user, token id or operator')
    .option(
      '--action <action>',
      'only this action, such as token.created, or group of actions, such as token',
    )
    .option(
      '--since <moment>',
      'only entries since a date such as 2026-03-01, or within the last 24h or 30d',
      pastMoment,
    )
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- audit log --since 24h
  $ npm run --silent cli -- audit log --user ada --action token --json
  [{"time":"2026-03-01T10:30:00.000Z","action":"token.revoked",
    "actor":{"type":"operator","name":"grace","host":"db1"},"address":null,"requestId":null,
    "target":{"type":"token","id":"…"},"changes":{}}]     printed as one line`,
    )
    .action(({ user, ...options }: LogOptions) =>
      commandLine.runHost(
        async ({ app }) => ({
          pieces: (isJson) => {
            const entries = app.audit.entries({
              ...options,
              userId: user,
              withDeleted: true,
              withGuests: true,
            });
            return isJson ? jsonArray(shownEntries(entries)) : lines(entries);
          },
        }),
        { access: 'read' },
      ),
    );
}

function exportLog(parent: Command, commandLine: CommandRunner): void {
  parent
    .command('export')
    .summary('print the audit log with its hashes')
    .description(
      `Prints every entry of the audit log as a line of JSON, with its chain, number and hash, then the end of each chain. A copy that is stored elsewhere reveals tampering by people who can write to the database. A hash is the SHA-256 of the entry as JSON, without the hash and with the members of each object sorted by name.`,
    )
    .addHelpText(
      'after',
      `
Example:
  $ npm run --silent cli -- audit export > audit.jsonl

With --json, prints one object with the arrays entries and chains.`,
    )
    .action(() =>
      commandLine.runHost(
        async ({ app }) => ({
          pieces: (isJson) => (isJson ? exportObject(app.audit) : exportLines(app.audit)),
        }),
        { access: 'read' },
      ),
    );
}

function verifyLog(parent: Command, commandLine: CommandRunner): void {
  parent
    .command('verify')
    .summary('check the audit log for removed or altered entries')
    .description(
      `Checks the hash of each entry of the audit log, that each entry follows the previous one, and that no chain was cut off. It can run while the server is running.`,
    )
    .addHelpText(
      'after',
      `
Exit codes:
  0  every chain is intact
  1  an entry was removed, altered or inserted; the output says which

Example:
  $ npm run --silent cli -- audit verify --json
  {"chains":2,"entries":40,"pruned":0,"faults":[{"chain":"account/ada",
   "fault":"entry 3 was altered"}]}     printed as one line`,
    )
    .action(() =>
      commandLine.runHost(
        async ({ app }) =>
          verification(await withProgress('Chains', (advance) => app.audit.verify(advance))),
        { access: 'read' },
      ),
    );
}

function verification(found: Verification): CommandResult {
  const { chains, entries, pruned, faults } = found;
  const counts = [counted(chains, 'chain'), counted(entries, 'entry', 'entries')];
  const older = pruned === 0 ? '' : `, ${counted(pruned, 'older one')} deleted by age`;
  const rows = faults.map(({ chain, fault }) => [chainName(chain), fault]);
  const outcome = rows.length === 0 ? 'no faults' : counted(rows.length, 'fault');
  const summary = `${counts.join(' with ')} checked${older}: ${outcome}.`;
  return {
    result: found,
    text: rows.length === 0 ? summary : `${table(['chain', 'fault'], rows)}\n${summary}`,
    exitCode: rows.length === 0 ? EXIT.done : EXIT.failed,
  };
}

async function* shownEntries(batches: AsyncIterable<AuditEntry[]>): AsyncGenerator<object[]> {
  for await (const batch of batches) {
    yield batch.map(({ time, action, actor, address, requestId, target, changes }) => ({
      time,
      action,
      actor,
      address,
      requestId,
      target,
      changes,
    }));
  }
}

async function* lines(batches: AsyncIterable<AuditEntry[]>): AsyncGenerator<string> {
  yield 'TIME                      ACTION                ACTOR, TARGET, CHANGES';
  for await (const batch of batches) {
    for (const { time, action, actor, address, target, changes } of batch) {
      const from = address === null ? '' : ` from ${address}`;
      const facts = [`${actorName(actor)}${from}`, `${target.type} ${target.id}`];
      if (Object.keys(changes).length > 0) facts.push(JSON.stringify(changes));
      yield `\n${time.toISOString()}  ${action.padEnd(20)}  ${printable(facts.join('  '))}`;
    }
  }
}

function actorName(actor: Actor): string {
  if (actor.type === 'person') return actor.account;
  if (actor.type === 'token') return `${actor.account} by token ${actor.token}`;
  if (actor.type === 'sitter') return `sitter ${actor.member}`;
  return actor.type === 'operator' ? `${actor.name} on ${actor.host}` : `server on ${actor.host}`;
}

async function* exportLines(audit: AuditLog): AsyncGenerator<string> {
  let separator = '';
  for (const batches of [audit.entries(), audit.ends()]) {
    for await (const batch of batches) {
      for (const item of batch) {
        yield separator + JSON.stringify(item);
        separator = '\n';
      }
    }
  }
}

async function* exportObject(audit: AuditLog): AsyncGenerator<string> {
  yield '{"entries":';
  yield* jsonArray(audit.entries());
  yield ',"chains":';
  yield* jsonArray(audit.ends());
  yield '}';
}
