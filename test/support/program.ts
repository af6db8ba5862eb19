import type * as ProgramModules from './program-modules';

// Set by environment.ts.
const { programModules } = globalThis as typeof globalThis & {
  programModules: typeof ProgramModules;
};

export const {
  AnswerCache,
  App,
  ArchiveWriter,
  Availability,
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
  OwnServer,
  PLUGINS_FOLDER,
  PublicPace,
  RealServer,
  RecordLookup,
  RecountPace,
  ReplicaSet,
  ServersError,
  Settings,
  SettingsError,
  TcpProxy,
  ToolArguments,
  accountsPlugin,
  acquireServers,
  asApiError,
  asOperator,
  asOperatorOf,
  builtProgram,
  certificate,
  closeHttpServer,
  commandsDuring,
  countRefusals,
  countSetting,
  createHttpServer,
  dataDirectory,
  databaseOf,
  dayOf,
  decodeCursor,
  decodeProgress,
  demoPlugin,
  differencesOf,
  drainConnections,
  eventModel,
  eventsPlugin,
  until,
  everythingStored,
  exitOf,
  fakeDate,
  fieldsOf,
  filtersOf,
  findBinary,
  findMongodb,
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
  read,
  readSettings,
  realDate,
  reconcile,
  redis,
  redisAnswers,
  referenceOf,
  removeAll,
  removeDataDirectory,
  runCommandHere,
  runningServers,
  smallGardenOf,
  startProgram,
  startProxiedService,
  startService,
  stopSharedService,
  storeLargest,
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
  withDatabase,
  write,
} = programModules;

export type AnswerCache = ProgramModules.AnswerCache;
export type App = ProgramModules.App;
export type ArchiveWriter = ProgramModules.ArchiveWriter;
export type Availability = ProgramModules.Availability;
export type Conformance = ProgramModules.Conformance;
export type Database = ProgramModules.Database;
export type DatabaseReader = ProgramModules.DatabaseReader;
export type Garden = ProgramModules.Garden;
export type JobRunner = ProgramModules.JobRunner;
export type Lease = ProgramModules.Lease;
export type LoaderError = ProgramModules.LoaderError;
export type OwnRedis = ProgramModules.OwnRedis;
export type OwnServer = ProgramModules.OwnServer;
export type PublicPace = ProgramModules.PublicPace;
export type RealServer = ProgramModules.RealServer;
export type RecountPace = ProgramModules.RecountPace;
export type ReplicaSet = ProgramModules.ReplicaSet;
export type ServersError = ProgramModules.ServersError;
export type Settings = ProgramModules.Settings;
export type SettingsError = ProgramModules.SettingsError;
export type TcpProxy = ProgramModules.TcpProxy;
export type ToolArguments = ProgramModules.ToolArguments;
export type { TestService, TestUser, ServiceOptions } from './service';
