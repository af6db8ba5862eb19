import type { CommandLine } from '../../src/plugins/command';
import { hostSettings } from '../../src/core/settings/host-settings';
import { openApiDocument } from './openapi/document';

export function openApiCommand(commandLine: CommandLine): void {
  commandLine.program
    .command('openapi')
    .summary('print the OpenAPI document')
    .description(
      'Prints the OpenAPI document, for generators of clients and documentation. Needs no server.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ npm run --silent cli -- openapi > openapi.json
  $ npm run --silent cli -- openapi --json

With --json, prints the document on one line.`,
    )
    .action(() => {
      commandLine.runOffline(({ description, settings }) => {
        const document = openApiDocument(description, settings.of(hostSettings.publicUrl));
        return { result: document, text: JSON.stringify(document, null, 2) };
      });
    });
}
