import closeWithGrace from 'close-with-grace';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { type ApiPart, partsWithPorts } from './app/api-description';
import { exitWithin, prepareExit } from './app/process/exit';
import { limitHeapGrowth } from './app/process/heap';
import { onFirstStart } from './app/first-start';
import { listen } from './app/listen';
import { type Program, startProgram } from './app/program';
import { onSignals } from './app/process/signals';
import { EXIT, exitOf } from './cli/exit-codes';
import { hostSettings, WRITE_DEADLINE_SECONDS } from './core/settings/host-settings';
import { PROJECT } from './core/settings/project';
import type { PortSetting } from './core/settings/settings';
import { reasonOf } from './core/values';
import { OWN_PORT_CONNECTIONS } from './http/limits';
import { countRefusals, type RefusalStatus } from './http/refused';
import { closeHttpServer, createHttpServer } from './http/server';
import { reloadCertificate } from './http/tls';
import { loadPlugins } from './plugins/loader';

/** How much of the time to stop is for what comes after the requests in progress. */
const CLOSING_MS = 5000;

const STOPS = 'The program stops because of an error';

/** A port that is listened on: for the whole API, or for a part of it. */
interface PortOptions {
  port: PortSetting<number | undefined>;
  part?: ApiPart;
  onRefusal: (status: RefusalStatus) => void;
}

/** Serves until it is stopped; what keeps it from that is said in words, and in the exit code. */
export async function serve(options: { welcome: boolean }): Promise<void> {
  limitHeapGrowth();
  // A reader that is gone ends nothing but the output.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    await new ServerProcess(options).run();
  } catch (error) {
    const { exitCode, message } = exitOf(error);
    if (message !== undefined) process.stderr.write(`${message}\n`);
    process.exitCode = exitCode;
  }
}

/** The server's life from its start to its end. */
class ServerProcess {
  readonly #options: { welcome: boolean };
  /** Aborted when it is to stop. */
  readonly #stopping = new AbortController();
  /** Aborted when it is to stop without taking any more requests. */
  readonly #hurry = new AbortController();
  #program: Program | undefined;
  /** The main one last. */
  readonly #servers: Server[] = [];

  constructor(options: { welcome: boolean }) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const starting = startProgram({
      role: 'server',
      env: process.env,
      // Those of the command line bring the demo garden.
      ...(this.#options.welcome && { plugins: loadPlugins() }),
      stopping: this.#stopping.signal,
      progress: (line) => {
        // Once there is a log, what its servers do belongs there.
        if (this.#program) this.#program.log.warn(line);
        else process.stderr.write(`${line}\n`);
      },
      onConnected: (program) => this.#open(program),
    });
    // From the start: a program that is stopped while it fetches MongoDB leaves nothing behind either.
    const closing = closeWithGrace(
      // How long it may take is a setting, and signals have meanings of their own.
      { delay: false, logger: false, skip: ['SIGTERM', 'SIGINT', 'SIGHUP'] },
      ({ err }) => this.#stop(starting, err),
    );
    const ignoreSignals = onSignals({
      stop: () => {
        closing.close();
      },
      hurry: () => {
        this.#hurry.abort();
      },
      end: () => process.exit(EXIT.failed),
      reload: () => {
        this.#reload();
      },
    });
    try {
      this.#program = await starting;
      if (!this.#stopping.signal.aborted) await this.#announce(this.#program);
    } catch (error) {
      // What a stop has broken off is no failure.
      if (this.#stopping.signal.aborted) return;
      closing.uninstall();
      ignoreSignals();
      // One of several ports may have been opened, and would keep the process.
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
    // Who asks for metrics needs few; a backend has as many as any client.
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

  /** Says that the service is ready, where, and to a new user what to try first. */
  async #announce({ app, servers, log }: Program): Promise<void> {
    app.metrics.collectProcessFigures();
    app.startJobs();
    const main = this.#servers.at(-1) as Server; // It is open by now.
    const { address, port } = main.address() as AddressInfo; // It listens on TCP.
    const scheme = app.settings.of(hostSettings.tlsCertFile) === undefined ? 'http' : 'https';
    const url = `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
    await app.audit.record({
      action: 'server.started',
      target: { type: 'server', id: url },
      changes: {
        version: PROJECT.version,
        settings: Object.fromEntries(app.settings.shown().map(({ name, value }) => [name, value])),
      },
    });
    log.info({ url, notes: servers.notes }, 'The service is ready');
    process.stdout.write(`Plant care API ready at ${url}\n`);
    if (!this.#options.welcome) return;
    for (const line of await onFirstStart(app, url)) process.stdout.write(`${line}\n`);
  }

  /** Ends all of it, whatever hangs; a server that serves takes requests for a while yet. */
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

  /** Has balancers see that they are to send requests elsewhere, and takes those that come still. */
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
      else log.info('There is no certificate to be reloaded');
    } catch (error) {
      log.error(
        { reason: reasonOf(error) },
        'The certificate is not reloaded: that before is kept',
      );
    }
  }
}
