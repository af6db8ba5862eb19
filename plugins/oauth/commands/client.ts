import { type Command, InvalidArgumentError } from 'commander';

import { OperatorError } from '../../../src/core/errors';
import { counted, table } from '../../../src/cli/table';
import { nameFault } from '../../../src/core/text/names';
import type { CommandLine } from '../../../src/plugins/command';
import type { PluginReference } from '../../../src/plugins/host';
import { MAX_NAME } from '../server/client-name';
import type { SignIns } from './sign-ins';

type Plugin = PluginReference<SignIns>;

/** Adds the commands of `client`. */
export function clientCommands(commandLine: CommandLine, plugin: Plugin): void {
  const parent = commandLine.program
    .command('client')
    .summary('create, list and delete OAuth clients')
    .description(
      'Creates, lists and deletes OAuth clients, which are apps that people can authorize. Most register themselves or have a metadata document, and need no command.',
    );
  createClient(parent, commandLine, plugin);
  listClients(parent, commandLine, plugin);
  deleteClient(parent, commandLine, plugin);
}

function createClient(parent: Command, commandLine: CommandLine, plugin: Plugin): void {
  parent
    .command('create')
    .summary('create a client')
    .description(
      'Creates a client for an app that cannot register itself. It stays until it is deleted.',
    )
    .requiredOption('--name <name>', 'the name that people see', clientName)
    .requiredOption(
      '--redirect-uri <uris...>',
      'where a browser may return to: https, loopback or a private scheme',
    )
    .option('--secret', 'create a secret, for a server that requires one; it is shown only once')
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
        const lines = [`Created the client ${name}. Its client_id:`, result.id];
        if (result.secret !== undefined) {
          lines.push('Its secret, which will not be shown again:', result.secret);
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
    .summary('list clients')
    .description(
      'Lists the clients that operators created and those that registered themselves. Clients with a metadata document are not stored.',
    )
    .addHelpText('after', '\nExample:\n  $ npm run --silent cli -- client list --json')
    .action(() =>
      commandLine.read(async (app) => {
        const clients = await app.exportsOf(plugin).clients();
        const rows = clients.map(({ id, name, redirectUris, expiresAt }) => [
          id,
          name,
          redirectUris.join(' '),
          expiresAt?.toISOString() ?? 'never',
        ]);
        const headings = ['id', 'name', 'redirect uris', 'expires'];
        return { result: clients, text: rows.length > 0 ? table(headings, rows) : 'No clients.' };
      }),
    );
}

function deleteClient(parent: Command, commandLine: CommandLine, plugin: Plugin): void {
  parent
    .command('delete')
    .summary('delete a client and revoke its tokens')
    .description('Deletes a client. All of its tokens are refused from the next request on.')
    .argument(
      '<id>',
      'its client_id, as "client list" shows it, or the URL of its metadata document',
    )
    .addHelpText(
      'after',
      '\nExample:\n  $ npm run --silent cli -- client delete https://assistant.example.com/client.json',
    )
    .action((id: string) =>
      commandLine.change(async (app) => {
        const revoked = await app.exportsOf(plugin).deleteClient(id);
        if (revoked === undefined) throw new OperatorError('There is no such client.');
        const text = `Deleted the client and revoked ${counted(revoked, 'grant')}.`;
        return { result: { id, revoked }, text };
      }),
    );
}

function clientName(value: string): string {
  const fault = nameFault(value, MAX_NAME);
  if (fault === undefined) return value;
  throw new InvalidArgumentError(`It ${fault}.`);
}
