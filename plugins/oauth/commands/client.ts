import { type Command, InvalidArgumentError } from 'commander';

import { CommandError } from '../../../src/cli/errors';
import { counted, table } from '../../../src/cli/table';
import { nameFault } from '../../../src/core/text/names';
import type { CommandLine } from '../../../src/plugins/command';
import type { PluginReference } from '../../../src/plugins/host';
import { MAX_NAME } from '../server/client-metadata';
import type { ClientView, NewClient } from '../server/clients';

/** What the commands need of the plugin. */
export interface Clients {
  /** Makes a program that people may let in; the secret is shown this once. */
  createClient(wanted: NewClient): Promise<ClientView & { secret?: string }>;
  clients(): Promise<ClientView[]>;
  /**
   * Ends a program, and all tokens that it has of people.
   *
   * @returns how many people let it in; undefined where there is no such program
   */
  deleteClient(id: string): Promise<number | undefined>;
}

type Plugin = PluginReference<Clients>;

/** Adds the commands of `client`. */
export function clientCommands(commandLine: CommandLine, plugin: Plugin): void {
  const parent = commandLine.program
    .command('client')
    .summary('make, list and delete programs that people may let in')
    .description(
      'Makes, lists and deletes programs that people may let in (clients of OAuth). Most register themselves, or have a metadata document, and need no command.',
    );
  createClient(parent, commandLine, plugin);
  listClients(parent, commandLine, plugin);
  deleteClient(parent, commandLine, plugin);
}

function createClient(parent: Command, commandLine: CommandLine, plugin: Plugin): void {
  parent
    .command('create')
    .summary('make a program that people may let in')
    .description(
      'Makes a program that people may let in, for one that cannot register itself. It stays until it is deleted.',
    )
    .requiredOption('--name <name>', 'what people are shown', clientName)
    .requiredOption(
      '--redirect-uri <uris...>',
      'where a browser may return to: https, loopback or a private scheme',
    )
    .option('--secret', 'give it a secret, for a server that asks for one; it is shown this once')
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- client create --name Ferns --redirect-uri com.example.ferns:/callback
  $ npm run --silent cli -- client create --name Ferns --secret --json --redirect-uri https://ferns.example.com/callback
  {"id":"operator.…","secret":"…","name":"Ferns",…}     printed as one line`,
    )
    .action(async ({ name, redirectUri, secret = false }: Options) => {
      await commandLine.run(async (app) => {
        const wanted = { name, redirectUris: redirectUri, hasSecret: secret };
        const result = await app.exportsOf(plugin).createClient(wanted);
        const lines = [`The client ${name} is made; its client_id is:`, result.id];
        if (result.secret !== undefined) {
          lines.push('Its secret, which is not shown again:', result.secret);
        }
        return { result, text: lines.join('\n') };
      });
    });
}

interface Options {
  name: string;
  redirectUri: string[];
  secret?: boolean;
}

function listClients(parent: Command, commandLine: CommandLine, plugin: Plugin): void {
  parent
    .command('list')
    .summary('list programs')
    .description(
      'Lists the programs that operators made, and those that registered themselves. Those with a metadata document are not kept.',
    )
    .addHelpText('after', '\nExample:\n  $ npm run --silent cli -- client list --json')
    .action(() =>
      commandLine.run(async (app) => {
        const clients = await app.exportsOf(plugin).clients();
        const rows = clients.map(({ id, name, redirectUris, expiresAt }) => [
          id,
          name,
          redirectUris.join(' '),
          expiresAt === null ? 'made here' : `until ${expiresAt.toISOString()}`,
        ]);
        const headings = ['id', 'name', 'redirect uris', 'kept'];
        return { result: clients, text: rows.length > 0 ? table(headings, rows) : 'No clients.' };
      }),
    );
}

function deleteClient(parent: Command, commandLine: CommandLine, plugin: Plugin): void {
  parent
    .command('delete')
    .summary('end a program and all tokens that it has')
    .description(
      'Ends a program: all tokens that people let it have are refused from the next request on.',
    )
    .argument(
      '<id>',
      'its client_id, as "client list" shows it, or the address of its metadata document',
    )
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run --silent cli -- client delete https://assistant.example.com/client.json',
    )
    .action((id: string) =>
      commandLine.run(async (app) => {
        const revoked = await app.exportsOf(plugin).deleteClient(id);
        if (revoked === undefined) throw new CommandError('There is no such client.');
        const text = `The client is deleted; ${counted(revoked, 'consent')} ended with it.`;
        return { result: { id, revoked }, text };
      }),
    );
}

function clientName(value: string): string {
  const fault = nameFault(value, MAX_NAME);
  if (fault === undefined) return value;
  throw new InvalidArgumentError(`It ${fault}.`);
}
