import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import closeWithGrace from 'close-with-grace';

import { type ApiPart, partsWithPorts } from './app/api-description';
import { exitWithin, prepareExit, limitHeapGrowth } from './app/process';
import { onFirstStart } from './app/seeds';
import { listen, urlOf } from './app/listen';
import { type Program, startProgram } from './app/program';
import { EXIT, exitOf } from './cli/exit-codes';
import { hostSettings, WRITE_DEADLINE_SECONDS } from './core/settings/host-settings';
import { PROJECT } from './core/settings/project';
import type { PortSetting } from './core/settings/settings';
import { reasonOf } from './core/values';
import { OWN_PORT_CONNECTIONS } from './http/limits';
import {
  countRefusals,
  type RefusalStatus,
  closeHttpServer,
  createHttpServer,
} from './http/server';
import { certificateFault, reloadCertificate, tlsOptions } from './http/tls';
import { loadPlugins } from './plugins/loader';

/** The part of the shutdown timeout that is reserved for the steps after the last requests. */
const CLOSING_MS = 5000;

const STOPS = 'The server stops because of an error';

/** A port for the whole API, or for a part of it. */
interface PortOptions {
  port: PortSetting<number | undefined>;
  part?: ApiPart;
  onRefusal: (status: RefusalStatus) => void;
}

/** Runs the server until it is stopped. Prints why if it cannot start, and sets the exit code. */
export async function serve(options: { welcome: boolean }): Promise<void> {
  limitHeapGrowth();
  // A closed reader must not end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    await new ServerProcess(options).run();
  } catch (error) {
    const { exitCode, message } = exitOf(error);
    if (message !== undefined) process.stderr.write(`${message}\n`);
    process.exitCode = exitCode;
  }
}

/** The life of the server process. */
class ServerProcess {
  readonly #options: { welcome: boolean };
  /** Aborted when the server is to stop. */
  readonly #stopping = new AbortController();
  /** Aborted when the server is to stop without draining. */
  readonly #hurry = new AbortController();
  #program: Program | undefined;
  /** The main server is the last. */
  readonly #servers: Server[] = [];

  constructor(options: { welcome: boolean }) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const starting = startProgram({
      role: 'server',
      env: process.env,
      // The plugins of the command line include the demo garden.
      ...(this.#options.welcome && { plugins: loadPlugins() }),
      stopping: this.#stopping.signal,
      progress: (line) => {
        // Once the log is open, messages about MongoDB and Redis belong there.
        if (this.#program) this.#program.log.warn(line);
        else process.stderr.write(`${line}\n`);
      },
      onConnected: (program) => this.#open(program),
    });
    // Installed at once, so that a stop while MongoDB is being fetched cleans up as well.
    const closing = closeWithGrace(
      // The timeout is a setting, and signals are handled below.
      { delay: false, logger: false, skip: ['SIGTERM', 'SIGINT', 'SIGHUP'] },
      ({ err }) => this.#stop(starting, err),
    );
    let signals = 0;
    const stop = (): void => {
      signals += 1;
      if (signals === 1) closing.close();
      // Ctrl-C was typed again, or npm forwarded the signal of the terminal.
      else if (signals === 2) this.#hurry.abort();
      else process.exit(EXIT.failed);
    };
    const reload = (): void => {
      this.#reload();
    };
    process.on('SIGTERM', stop).on('SIGINT', stop).on('SIGHUP', reload);
    try {
      this.#program = await starting;
      if (!this.#stopping.signal.aborted) await this.#announce(this.#program);
    } catch (error) {
      // A start that was aborted by a stop is not a failure.
      if (this.#stopping.signal.aborted) return;
      closing.uninstall();
      process.off('SIGTERM', stop).off('SIGINT', stop).off('SIGHUP', reload);
      // A port that is already open would keep the process alive.
      for (const server of this.#servers) server.close();
      await this.#program?.stop();
      throw error;
    }
  }

  async #open(program: Pick<Program, 'app' | 'log'>): Promise<void> {
    const { metrics, plugins, settings } = program.app;
    const onRefusal = countRefusals(metrics, program.log);
    for (const part of partsWithPorts(plugins, settings)) {
      await this.#listen(program, { port: part.ownPort, part, onRefusal });
    }
    const { port } = hostSettings;
    await this.#listen(program, { port, onRefusal });
  }

  async #listen(
    { app, log }: Pick<Program, 'app' | 'log'>,
    { port, part, onRefusal }: PortOptions,
  ): Promise<void> {
    // Metrics need few connections; the backend port has the usual limit.
    const isSmall = part?.operations.length === 0;
    const limits = isSmall ? { maxConnections: OWN_PORT_CONNECTIONS } : {};
    const listener = app.requestListener(part);
    const server = createHttpServer(listener, app.settings, { onRefusal, ...limits });
    this.#servers.push(server);
    await listen(server, app.settings, port);
    server.on('error', (error) => {
      log.error({ err: error }, 'A connection could not be accepted');
    });
  }

  /** Announces that the service is ready; on a first start, prints what to try. */
  async #announce({ app, servers, log }: Program): Promise<void> {
    app.metrics.collectProcessFigures();
    app.startJobs();
    const main = this.#servers.at(-1) as Server; // It has been opened.
    const { address, port } = main.address() as AddressInfo; // It listens on TCP.
    const url = urlOf(app.settings, address, port);
    await app.audit.record({
      action: 'server.started',
      target: { type: 'server', id: url },
      changes: {
        version: PROJECT.version,
        settings: Object.fromEntries(app.settings.shown().map(({ name, value }) => [name, value])),
      },
    });
    log.info({ url, notes: servers.notes }, 'The service is ready');
    const tls = tlsOptions(app.settings);
    const fault = tls && certificateFault(tls);
    if (fault !== undefined) log.warn(`${fault}: replace it, then send SIGHUP`);
    process.stdout.write(`Plant care API ready at ${url}\n`);
    if (!this.#options.welcome) return;
    for (const line of await onFirstStart(app, url)) process.stdout.write(`${line}\n`);
  }

  /** Shuts down within the timeout, even if something hangs; drains first unless there was an error. */
  async #stop(starting: Promise<Program>, error: Error | undefined): Promise<void> {
    this.#stopping.abort();
    const settings = this.#program?.app.settings;
    const timeout = settings?.of(hostSettings.shutdownTimeoutSeconds);
    const timeoutMs = (timeout ?? hostSettings.shutdownTimeoutSeconds.fallback) * 1000;
    if (!error) await this.#drain(timeoutMs);
    else if (this.#program) this.#program.log.fatal({ err: error }, STOPS);
    else process.stderr.write(`${STOPS}: ${error.stack ?? error.message}\n`);
    exitWithin(timeoutMs);
    const program = await starting.catch(() => undefined);
    program?.log.info('stopping');
    program?.app.beginClosing();
    const patience = Math.max(timeoutMs - CLOSING_MS, WRITE_DEADLINE_SECONDS * 1000);
    const listening = this.#servers.filter((server) => server.listening);
    const cut = await Promise.all(listening.map((server) => closeHttpServer(server, patience)));
    program?.log.info({ cut: cut.reduce((sum, each) => sum + each, 0) }, 'drained');
    await program?.stop();
    program?.log.info('stopped');
    await prepareExit();
  }

  /** Turns unready for SHUTDOWN_DELAY_SECONDS, so that load balancers send requests elsewhere. */
  async #drain(timeoutMs: number): Promise<void> {
    if (!this.#program || !this.#servers.some((server) => server.listening)) return;
    const { app } = this.#program;
    const delayMs = app.settings.of(hostSettings.shutdownDelaySeconds) * 1000;
    if (delayMs === 0) return;
    exitWithin(delayMs + timeoutMs);
    app.beginClosing();
    await sleep(delayMs, undefined, { signal: this.#hurry.signal }).catch(() => undefined);
  }

  #reload(): void {
    if (!this.#program) return;
    const { app, log } = this.#program;
    try {
      const reloaded = this.#servers.map((server) => reloadCertificate(server, app.settings));
      if (reloaded.includes(true)) log.info('The certificate was reloaded');
      else log.info('There is no certificate to reload');
    } catch (error) {
      log.error(
        { reason: reasonOf(error) },
        'The certificate could not be reloaded; the previous one stays in use',
      );
    }
  }
}
