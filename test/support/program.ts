import type * as ProgramModules from './program-modules';

// Set by environment.ts.
const { programModules } = globalThis as typeof globalThis & {
  programModules: typeof ProgramModules;
};

export const {
  ResponseCache,
  App,
  loadSeeds,
  onFirstStart,
  MongoHealth,
  CLIENT_METHODS,
  CONVENTIONS,
  Conformance,
  Database,
  DatabaseReader,
  Garden,
  JobRunner,
  LARGEST_PHOTO,
  LARGEST_SINCE,
  Lease,
  LoaderError,
  NETWORK_FAULTS,
  OwnRedis,
  PLUGINS_FOLDER,
  RealServer,
  RecordLookup,
  ReplicaSet,
  Settings,
  SettingsError,
  TcpProxy,
  ToolArguments,
  accountsPlugin,
  acquireServers,
  alternativesOf,
  asOperator,
  asOperatorOf,
  builtProgram,
  certificate,
  closeHttpServer,
  commandsDuring,
  countRefusals,
  createHttpServer,
  dataDirectory,
  databaseOf,
  dayOf,
  decodeCursor,
  decodeProgress,
  demoPlugin,
  differencesOf,
  eventModel,
  eventsPlugin,
  until,
  everythingStored,
  exitOf,
  fakeDate,
  fetchAsIs,
  fetchFrom,
  fieldsOf,
  filtersOf,
  freshDatabase,
  fullRequest,
  gardenOf,
  giveBack,
  hostModels,
  hostSettings,
  id,
  idOfEveryKind,
  idempotencyKeyModel,
  idempotencyUsageModel,
  instant,
  integer,
  isConditional,
  kindOf,
  kinds,
  leaseModel,
  loadPlugins,
  logMany,
  makeTokens,
  newId,
  nullable,
  oauthPlugin,
  oneOf,
  openApiDocument,
  operationName,
  operationRows,
  pathOf,
  photoModel,
  plantModel,
  plantsPlugin,
  pluginsUnderTest,
  pruneDeletions,
  readSettings,
  realDate,
  reconcile,
  referenceOf,
  removeAll,
  removeDataDirectory,
  requiredScopes,
  runCommandHere,
  runningServers,
  smallGardenOf,
  startProgram,
  startProxiedService,
  startService,
  storeLargest,
  storePlants,
  success,
  surfaceDocument,
  surfaceOf,
  takeDatabase,
  text,
  timestamp,
  tlsSettings,
  toStoredId,
  tokensOf,
  toolRows,
  userOf,
  validRequest,
  write,
  writeArchive,
} = programModules;

export type ResponseCache = ProgramModules.ResponseCache;
export type App = ProgramModules.App;
export type MongoHealth = ProgramModules.MongoHealth;
export type Conformance = ProgramModules.Conformance;
export type Database = ProgramModules.Database;
export type DatabaseReader = ProgramModules.DatabaseReader;
export type Garden = ProgramModules.Garden;
export type JobRunner = ProgramModules.JobRunner;
export type Lease = ProgramModules.Lease;
export type LoaderError = ProgramModules.LoaderError;
export type OwnRedis = ProgramModules.OwnRedis;
export type RealServer = ProgramModules.RealServer;
export type ReplicaSet = ProgramModules.ReplicaSet;
export type Settings = ProgramModules.Settings;
export type SettingsError = ProgramModules.SettingsError;
export type TcpProxy = ProgramModules.TcpProxy;
export type ToolArguments = ProgramModules.ToolArguments;
export type { TestService, TestUser, ServiceOptions } from './service';
