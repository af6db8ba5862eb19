import { TextStream } from '../../src/core/text/text-stream';
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

const tool = { none: 'files are brought and taken by people and their programs' };
const limits = { plants: MAX_PLANTS, events: MAX_EVENTS };

/** Import and export of whole gardens (docs/api.md, "Import and export"). */
export function routes(gardens: GardenImport, exports: GardenExport): Operation[] {
  return [
    write({
      method: 'POST',
      path: '/api/import',
      operationId: 'importGarden',
      summary: 'Bring in plants with their photos and events',
      description: `Up to ${MAX_PLANTS} plants and ${MAX_EVENTS.toLocaleString('en')} events in ${MAX_KIB / 1024} MiB: what \`GET /api/export\` answers, or CSV of plants, a line each, as \`csv\` or as \`text/csv\` whose first line has the names of fields. All of it is added or, where anything is wrong, nothing; up to ${MAX_DETAILS} faults are listed, those of CSV with their \`line\`. With \`dryRun=true\` nothing is added and the answer is 200. Everything gets new ids; \`photoIds\` and \`primaryPhotoId\` name photos of the same body by their \`id\` there, or photos that the account has.`,
      access: { scope: 'plants:write', and: 'events:write' },
      query: importQuery,
      body: importBodyOf(MAX_PLANTS),
      large: {
        maxKib: MAX_KIB,
        maxDetails: MAX_DETAILS,
        text: { type: 'text/csv', field: 'csv' },
        check: (body: ImportBody, errors, account) => checkedGarden(body, errors, account, limits),
      },
      response: { schema: imported, description: 'How much was added' },
      errors: [plantLimitReached, photoLimitReached, eventLimitReached, unknownPhoto],
      tool,
      handler: ({ tx, body }) => gardens.insert(tx, body),
    }),
    read({
      path: '/api/export',
      operationId: 'exportGarden',
      summary: 'Take plants out, with their photos and events',
      description:
        'JSON that `POST /api/import` takes back into an equal garden, or, with `format=csv`, CSV of the plants alone. In CSV a cell that a spreadsheet would take for a formula has a quote in front, which an import takes away. It is made while it is sent, each record as it is then.',
      access: { scope: 'plants:read' },
      query: exportQuery,
      response: {
        schema: exported,
        description: 'The garden, as `POST /api/import` takes it',
        orType: 'text/csv',
      },
      tool,
      handler: async ({ tenant, query: { format } }) =>
        format === 'csv'
          ? new TextStream('text/csv', exports.csv(tenant))
          : new TextStream('application/json', exports.json(tenant)),
    }),
  ];
}
