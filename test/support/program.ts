// The parts of the program that tests use, and helpers that use them. Node loads the build of this file, and
// tests get that (see environment.ts and jest.config.js).
export { default as accountsPlugin } from '../../plugins/accounts';
export { default as carePlugin } from '../../plugins/care';
export { decodeProgress } from '../../plugins/changes/cursor';
export { default as demoPlugin } from '../../plugins/demo/cli';
export { openApiDocument } from '../../plugins/docs/openapi/document';
export { default as eventsPlugin } from '../../plugins/events';
export { default as oauthPlugin } from '../../plugins/oauth';
export { eventModel } from '../../plugins/events/model';
export { ToolArguments } from '../../plugins/mcp/tools/arguments';
export { default as photosPlugin } from '../../plugins/photos';
export { photoModel } from '../../plugins/photos/model';
export { default as plantsPlugin } from '../../plugins/plants';
export { plantModel } from '../../plugins/plants/model';
export { GardenExport } from '../../plugins/transfer/garden-export';
export { App } from '../../src/app/app';
export { writeArchive } from '../../src/app/backup/archive-writer';
export { certificate } from '../../src/app/doctor/machine';
export { onFirstStart } from '../../src/app/seeds';
export { loadSeeds } from '../../src/app/seeds';
export { startProgram } from '../../src/app/program';
export { readSettings } from '../../src/plugins/plugin';
export { surfaceOf } from '../../src/app/surface';
export { ResponseCache } from '../../src/middleware/response-cache';
export { runCommandHere } from './run-command';
export { exitOf } from '../../src/cli/exit-codes';
export { CONVENTIONS } from '../../plugins/docs/conventions';
export { hostSettings } from '../../src/core/settings/host-settings';
export { newId, toStoredId } from '../../src/core/ids';
export { Settings, SettingsError } from '../../src/core/settings/settings';
export { decodeCursor } from '../../src/data/page';
export { DatabaseReader } from '../../src/data/mongodb/database-reader';
export { Database } from '../../src/data/mongodb/database';
export { hostModels } from '../../src/data/model/host-models';
export { dayOf, idempotencyUsageModel } from '../../src/data/idempotency/idempotency-usage';
export { idempotencyKeyModel } from '../../src/data/idempotency/idempotency';
export { pruneDeletions } from '../../src/data/changes/deletions';
export { RecordLookup } from '../../src/data/model/record-lookup';
export { Lease, leaseModel } from '../../src/data/schema/lease';
export {
  id,
  instant,
  integer,
  nullable,
  oneOf,
  success,
  text,
  timestamp,
} from '../../src/fields/joi';
export { countRefusals } from '../../src/http/server';
export { closeHttpServer, createHttpServer } from '../../src/http/server';
export { LoaderError, PLUGINS_FOLDER, loadPlugins } from '../../src/plugins/loader';
export {
  isConditional,
  operationName,
  readsBody,
  requiredScopes,
} from '../../src/plugins/operation-facts';
export { write } from '../../src/plugins/operation';
export { acquireServers } from '../../src/servers';
export { builtProgram } from './built';
export { logMany } from './bulk';
export { Conformance } from './conformance';
export { freshDatabase, giveBack, removeAll, takeDatabase } from './databases';
export { differencesOf } from './differences';
export { Garden, everythingStored, gardenOf, smallGardenOf } from './garden';
export { LARGEST_PHOTO, LARGEST_SINCE, storeLargest, storePlants } from './largest';
export { filtersOf } from './mongodb-commands';
export {
  CLIENT_METHODS,
  fieldsOf,
  fullRequest,
  idOfEveryKind,
  kindOf,
  kinds,
  alternativesOf,
  operationRows,
  pathOf,
  referenceOf,
  toolRows,
  validRequest,
} from './operations';
export { OwnRedis, REFUSAL_CAUSES } from './own-redis';
export { LATER_MIGRATION, laterPlugins } from './later-release';
export { pluginsUnderTest } from './plugins';
export { commandsDuring, startProxiedService } from './proxied-service';
export {
  RealServer,
  asOperator,
  asOperatorOf,
  dataDirectory,
  databaseOf,
  makeTokens,
  removeDataDirectory,
  runningServers,
  tokensOf,
} from './real-server';
export { ReplicaSet } from './replica-set';
export { startService, stopSharedService, userOf } from './service';
export { published, released } from './published';
export { surfaceDocument } from './surface-document';
export { NETWORK_FAULTS, TcpProxy } from './tcp-proxy';
export { tlsSettings } from './tls';
export { until } from './processes';
export { fakeDate, realDate } from './host-clock';
export { fetchAsIs, fetchFrom } from './host-fetch';
export { reconcile } from '../../src/app/reconcile';
export type { ObjectSchema, Published } from './published';
export type { ServiceOptions, TestService, TestUser } from './service';
