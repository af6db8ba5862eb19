import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import type { Logger } from 'pino';

import { App } from './app';
import { findMongodb, type Waiting } from '../servers/external-mongodb';
import { requireSchema } from '../data/schema/require-schema';
import type { Acting } from '../data/audit/entry';
import { openLog } from './log';
import { loadServerPlugins } from '../plugins/loader';
import type { DataAccess } from '../plugins/command';
import type { Plugin } from '../plugins/plugin';
import { acquireServers, type Progress, type Role, type Servers } from '../servers';
import { freeBytes } from '../core/disk';
import type { Metrics } from '../core/metrics';
import { hostSettings } from '../core/settings/host-settings';
import type { Settings } from '../core/settings/settings';
import { withTimeout } from '../core/async';

/** How long the app may take to close its connections before the servers are stopped. */
const CLOSE_MS = 3000;

/** The app, connected to its servers. */
export interface Program {
  app: App;
  servers: Servers;
  log: Logger;
  /** Closes the app's connections, then stops the servers that this process started. */
  stop(): Promise<void>;
}

interface ProgramOptions {
  role: Role;
  env: NodeJS.ProcessEnv;
  /** Defaults to those of a server. */
  plugins?: readonly Plugin[];
  progress?: Progress;
  /** Whether a backup is being restored, so that the data may be incomplete. */
  restoring?: boolean;
  stopping?: AbortSignal;
  /** The actor of audit entries that no token causes; defaults to the server. */
  acting?: Acting;
  /** Whether to accept data of another release without migrating it. */
  leaveSchema?: boolean;
  /** What a command does with data that must exist. */
  access?: DataAccess;
  /** Called once MongoDB is connected, before migrations, which may take long. */
  onConnected?: (program: Pick<Program, 'app' | 'log'>) => Promise<void>;
}

/**
 * Sets up the plugins, finds or starts the servers, and connects to them.
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
    access,
  } = options;
  const reads = access === 'read';
  const { log, dropped } = openLog(env);
  const app = new App({ plugins, env, log, acting });
  const { settings } = app;
  measureProcess(app.metrics, settings, dropped);
  const restarts = app.metrics.counter(
    'own_server_restarts_total',
    'Times that a managed MongoDB or Redis exited and was restarted',
    ['server'],
  );
  const external = settings.of(hostSettings.mongodbUri);
  const waiting: Waiting = {
    // An operator can run a command again.
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
      needsData: access !== undefined,
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
      // Waiting for a hung MongoDB must not prevent stopping it.
      await withTimeout(CLOSE_MS, app.close());
    } finally {
      await servers.release();
    }
  };
  try {
    await app.connect({ ...servers, restoring, reads }, () => prepare({ app, log }, options));
  } catch (error) {
    await stop();
    throw error;
  }
  return { app, servers, log, stop };
}

/** Migrates the data for a server; a command only checks it. Returns the migrations that were run. */
async function prepare(
  { app, log }: Pick<Program, 'app' | 'log'>,
  {
    role,
    progress = () => undefined,
    restoring,
    leaveSchema = restoring,
    access,
    onConnected = async () => undefined,
    stopping,
  }: ProgramOptions,
): Promise<string[]> {
  if (leaveSchema === true) return [];
  if (role === 'tool') {
    await requireSchema(app.schema, { reads: access === 'read' });
    return [];
  }
  await onConnected({ app, log });
  if (await app.schema.isEmpty()) {
    progress('The database is empty; if it should have data, check DATA_DIR or MONGODB_URI');
  }
  return app.schema.update((line) => {
    app.reportMigration(line);
    progress(line);
  }, stopping);
}

/** Adds the metrics of the log, the data directory and the certificate. */
function measureProcess(metrics: Metrics, settings: Settings, droppedLogLines: () => number): void {
  metrics.reading({
    name: 'log_lines_dropped_total',
    help: 'Log lines dropped because the reader was too slow',
    isTotal: true,
    read: droppedLogLines,
  });
  metrics.reading({
    name: 'data_dir_free_bytes',
    help: 'Free bytes on the disk of DATA_DIR',
    read: () => freeBytes(settings.of(hostSettings.dataDir)),
  });
  const certificate = settings.of(hostSettings.tlsCertFile);
  if (certificate === undefined) return;
  metrics.reading({
    name: 'tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate of TLS_CERT_FILE expires',
    read: async () => Date.parse(new X509Certificate(await readFile(certificate)).validTo) / 1000,
  });
}
