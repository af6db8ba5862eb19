import { readFile } from 'node:fs/promises';

import { counted } from '../../src/cli/table';
import { userName } from '../../src/cli/values';
import { ApiError, OperatorError } from '../../src/core/errors';
import { decodedText, EncodingFault } from '../../src/core/text/encodings';
import { parseJson } from '../../src/core/text/json';
import { JsonFault } from '../../src/core/text/json-limits';
import { isRecord, reasonOf } from '../../src/core/values';
import { checked, ValidationErrors } from '../../src/fields/validation';
import type { CommandLine } from '../../src/plugins/command';
import type { Host, PluginReference } from '../../src/plugins/host';
import type { Accounts } from '../accounts';
import { EVENT_QUOTA } from '../events';
import { PHOTO_QUOTA } from '../photos';
import { PLANT_QUOTA } from '../plants';
import { checkedGarden } from './check';
import type { GardenImport } from './garden-import';
import { type ImportBody, importBodyOf, MAX_DETAILS, MAX_EVENTS, MAX_PLANTS } from './schema';

/** What the plugin exports. */
export interface Importing {
  host: Host;
  accounts: Accounts;
  gardens: GardenImport;
}

const UNLIMITED = { plants: Number.MAX_SAFE_INTEGER, events: Number.MAX_SAFE_INTEGER };
/** A part is one transaction, as in the API. */
const OF_PART = { plants: MAX_PLANTS, events: MAX_EVENTS };
const body = importBodyOf(UNLIMITED.plants);

interface Options {
  user: string;
  dryRun?: boolean;
}

/** Adds `import`. */
export function commands(commandLine: CommandLine, plugin: PluginReference<Importing>): void {
  commandLine.program
    .command('import')
    .summary('import a garden into an account')
    .description(
      'Adds the plants of a file to an account, with their photos, schedules and events. The file is JSON as for POST /api/import, also a part of an export, or CSV with field names as headings, of any size. Everything is added or, if there is any fault, nothing.',
    )
    .argument('<file>', 'the file')
    .requiredOption('--user <user>', 'the user whose account it is added to', userName)
    .option('--dry-run', 'add nothing; only check whether the import would succeed')
    .addHelpText(
      'after',
      `
Example:
  $ npm run --silent cli -- import garden.json --user ada --json
  {"user":"ada","dryRun":false,"plants":120,"events":9800}`,
    )
    .action(async (file: string, { user, dryRun = false }: Options) => {
      const given = await bodyOf(file);
      await commandLine[dryRun ? 'read' : 'change'](async (app) => {
        const { host, accounts, gardens } = app.exportsOf(plugin);
        const account = await accounts.requireUser(user);
        const errors = new ValidationErrors(MAX_DETAILS);
        // Faults are reported below.
        const fields = checked(body, given, errors) as ImportBody;
        const limits = 'part' in given ? OF_PART : UNLIMITED;
        const garden = await checkedGarden(fields, errors, account, limits);
        requireFaultless(file, errors);
        const { plants, archived, events, photos } = await gardens.additions(account, garden);
        host.quotas.requireRoom(account, {
          [PLANT_QUOTA]: plants - archived,
          [PHOTO_QUOTA]: photos,
          [EVENT_QUOTA]: events,
        });
        const bar = app.progress('Events', dryRun ? 0 : events);
        if (!dryRun) {
          await gardens
            .insertMany(account, garden, (count) => {
              bar.advance(count);
            })
            .finally(() => {
              bar.stop();
            });
        }
        const parts = `${counted(plants, 'plant')}, ${counted(events, 'event')}, ${counted(photos, 'photo')}`;
        return {
          result: { user, dryRun, plants, events },
          text: `${parts} ${dryRun ? 'can be imported.' : 'imported.'}`,
        };
      });
    });
}

/** The file as the body of a request. @throws OperatorError */
async function bodyOf(file: string): Promise<object> {
  try {
    const bytes = await readFile(file);
    const text = decodedText(bytes);
    if (!text.trimStart().startsWith('{')) return { csv: text };
    const json = parseJson(bytes);
    if (isRecord(json)) return json;
    throw new JsonFault('is not a JSON object');
  } catch (error) {
    const isFault = error instanceof JsonFault || error instanceof EncodingFault;
    const reason = isFault ? `it ${error.message}` : reasonOf(error);
    throw new OperatorError(`${file} cannot be read: ${reason}.`);
  }
}

/** @throws OperatorError that lists the faults */
function requireFaultless(file: string, errors: ValidationErrors): void {
  try {
    errors.throwIfAny();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const lines = (error.details ?? []).map(({ message, line }) =>
      line === undefined ? message : `Line ${line}: ${message}`,
    );
    throw new OperatorError(`Nothing of ${file} was imported.\n${lines.join('\n')}`);
  }
}
