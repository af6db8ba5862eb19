import { fieldError } from '../../src/core/errors';
import { TextStream } from '../../src/core/http/content';
import type { Host } from '../../src/plugins/host';
import { type Operation, read, write } from '../../src/plugins/operation';
import { eventLimitReached } from '../events';
import { photoLimitReached, unknownPhoto } from '../photos';
import { plantLimitReached } from '../plants';
import { checkedGarden } from './check';
import type { GardenExport } from './garden-export';
import type { GardenImport } from './garden-import';
import {
  exported,
  exportQuery,
  type ImportBody,
  importBodyOf,
  imported,
  importQuery,
  MAX_DETAILS,
  MAX_EVENTS,
  MAX_KIB,
  MAX_PLANTS,
} from './schema';
import { gardenOfSimple, importedPlants, MAX_SIMPLE_PLANTS, simplePlants } from './simple-plants';

const limits = { plants: MAX_PLANTS, events: MAX_EVENTS };

/** Import and export of whole gardens (docs/api.md, "Import and export"). */
export function routes(
  gardens: GardenImport,
  exports: GardenExport,
  { snapshotStream }: Pick<Host, 'snapshotStream'>,
): Operation[] {
  const anImport = {
    method: 'POST',
    path: '/api/import',
    access: { scope: 'plants:write', and: 'events:write' },
  } as const;
  const tool = {
    name: 'import_plants',
    description: `Add up to ${MAX_SIMPLE_PLANTS} plants with schedules and last care, all or nothing. Ask once for what is missing, and leave out what is not known.`,
  };
  const importPlants = write({
    ...anImport,
    summary: 'Add many plants',
    body: simplePlants,
    notConditional: 'the response is not a record',
    response: { schema: importedPlants, description: 'The new plants' },
    errors: [plantLimitReached, eventLimitReached],
    tool,
    handler: ({ tx, body: { plants } }) =>
      gardens.insertPlants(tx, gardenOfSimple(plants, tx.account, tx.now)),
  });
  return [
    write({
      ...anImport,
      operationId: 'importGarden',
      summary: 'Import plants with their photos, schedules and events',
      description: `Takes up to ${MAX_PLANTS} plants and ${MAX_EVENTS.toLocaleString('en')} events in ${MAX_KIB / 1024} MiB: the JSON of \`GET /api/export\`, or a CSV table with a plant in each line, as \`csv\` or as \`text/csv\` with field names as headings. Adds everything or, if there is any fault, nothing; lists up to ${MAX_DETAILS} faults, those of CSV with their \`line\`. With \`dryRun=true\` it adds nothing and answers 200. With \`part\`, each record is added once, by its \`id\`, however often it is imported. All records get new ids; \`photoIds\` and \`primaryPhotoId\` name photos of the same body by their \`id\` there, or photos of the account.`,
      query: importQuery,
      body: importBodyOf(MAX_PLANTS),
      large: {
        maxKib: MAX_KIB,
        maxDetails: MAX_DETAILS,
        text: { type: 'text/csv', field: 'csv' },
        check: (body: ImportBody, errors, account) => checkedGarden(body, errors, account, limits),
      },
      response: { schema: imported, description: 'The number of plants and events' },
      errors: [plantLimitReached, photoLimitReached, eventLimitReached, unknownPhoto],
      tool: { ...tool, instead: importPlants },
      handler: ({ tx, body }) => gardens.insert(tx, body),
    }),
    read({
      path: '/api/export',
      operationId: 'exportGarden',
      summary: 'Export plants with their photos, schedules and events',
      description:
        'JSON that `POST /api/import` turns into an equal garden or, with `format=csv`, a CSV table of the plants only. What is more than one import takes comes in parts: `parts` is their number, and `part` selects one. In CSV a cell that a spreadsheet would take for a formula has a quote in front, which an import removes. A response is as of one moment.',
      access: { scope: 'plants:read' },
      isExport: true,
      query: exportQuery,
      response: { schema: exported, description: 'The garden, as `POST /api/import` takes it' },
      tool: { none: 'people and their programs export files' },
      handler: async ({ account, query: { format, part } }) => {
        const { id: userId } = account;
        if (format === 'json') {
          return new TextStream(
            'application/json',
            snapshotStream((session) => exports.json({ userId, session }, account, part ?? 1)),
          );
        }
        if (part !== undefined) throw fieldError('part', 'part is allowed only with json.');
        return new TextStream(
          'text/csv',
          snapshotStream((session) => exports.csv({ userId, session })),
        );
      },
    }),
  ];
}
