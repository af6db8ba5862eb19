import type { Logger } from 'pino';

import { App } from './app';
import { findMongodb, type Waiting } from '../servers/external-mongodb';
import type { Acting } from '../data/audit/entry';
import { openLog } from './process/log';
import { measureProcess } from './process/process-metrics';
import { loadServerPlugins } from '../plugins/loader';
import type { Plugin } from '../plugins/plugin';
import { acquireServers, type Progress, type Role, type Servers } from '../servers';
import { hostSettings } from '../core/settings/host-settings';
import { withTimeout } from '../core/async/timeout';

/** How long the app may take to finish with its servers before they are stopped. */
const CLOSE_MS = 3000;

/** The app with its servers up and connected. */
export interface Program {
  app: App;
  servers: Servers;
  log: Logger;
  /** Closes the app's connections, then stops the servers that nobody else uses. */
  stop(): Promise<void>;
}

interface ProgramOptions {
  role: Role;
  env: NodeJS.ProcessEnv;
  /** Those that a server needs where left out. */
  plugins?: readonly Plugin[];
  progress?: Progress;
  /** Whether a backup is to be restored, and data need not be whole. */
  restoring?: boolean;
  /** Aborted when what was started is not wanted any more. */
  stopping?: AbortSignal;
  /** Who acts; the server by itself where left out. */
  acting?: Acting;
  /** Whether data that does not fit this version is left as it is. */
  leaveSchema?: boolean;
  /** Called when MongoDB is there, before data is brought up to this release, which may take long. */
  onConnected?: (program: Pick<Program, 'app' | 'log'>) => Promise<void>;
}

/**
 * Sets the plugins up, finds or starts the servers, and connects.
 *
 * @throws SettingsError, LoaderError, SchemaError or ServersError, whose messages are for the operator
 */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const {
    role,
    env,
    plugins = loadServerPlugins(),
    progress,
    restoring,
    stopping,
    acting,
  } = options;
  const { log, dropped } = openLog(env);
  const app = new App({ plugins, env, log, acting });
  const { settings } = app;
  measureProcess(app.metrics, settings, dropped);
  const restarts = app.metrics.counter(
    'own_server_restarts_total',
    'Times that a managed MongoDB or Redis had ended and was started again',
    ['server'],
  );
  const external = settings.of(hostSettings.mongodbUri);
  const waiting: Waiting = {
    // A command is for somebody who can call it again.
    waitMs: role === 'server' ? settings.of(hostSettings.startupTimeoutSeconds) * 1000 : 0,
    onWait: (line) => {
      log.warn(line);
    },
    stopping,
  };
  const servers = await acquireServers(
    {
      dataDir: settings.of(hostSettings.dataDir),
      mongodbUri: external && (await findMongodb(external, waiting)),
      redisUrl: settings.of(hostSettings.redisUrl),
      mongodBinary: settings.of(hostSettings.mongodBinary),
    },
    {
      role,
      countRestarts: (server, by) => {
        restarts.inc({ server }, by);
      },
      progress,
      stopping,
      meanwhile:
        role === 'server'
          ? () => {
              app.prepareToServe();
            }
          : undefined,
    },
  );
  const stop = async (): Promise<void> => {
    try {
      // What waits for a MongoDB that hangs must not keep it from being stopped.
      await withTimeout(CLOSE_MS, app.close());
    } finally {
      await servers.release();
    }
  };
  try {
    await app.connect({ ...servers, restoring }, () => prepare({ app, log }, options));
  } catch (error) {
    await stop();
    throw error;
  }
  return { app, servers, log, stop };
}

/** Data of an earlier version is brought up to this one by its server, and never by a command. */
async function prepare(
  { app, log }: Pick<Program, 'app' | 'log'>,
  {
    role,
    progress = () => undefined,
    restoring,
    leaveSchema = restoring,
    onConnected = async () => undefined,
    stopping,
  }: ProgramOptions,
): Promise<string[]> {
  if (leaveSchema === true) return [];
  if (role === 'tool') {
    await app.schema.require();
    return [];
  }
  await onConnected({ app, log });
  return app.schema.update((line) => {
    app.reportMigration(line);
    progress(line);
  }, stopping);
}
