import closeWithGrace from 'close-with-grace';
import type { AddressInfo, Server } from 'node:net';

import { exitOf } from './cli/exit';
import { closeHttpServer, createHttpServer } from './http/server';
import { killAfter, prepareExit } from './app/exit';
import { type Program, startProgram } from './app/program';
import { ServersError } from './servers';
import { hostSettings } from './core/host-settings';
import type { Setting, Settings } from './core/settings';
import type { Transport } from './plugins/transport';

/** How long the program may take to stop, whatever hangs. */
const GRACE_MS = 14_500;
/** When it is killed that has not even ended by then. */
const KILL_MS = 14_800;
/** How many connections may wait to be accepted: beyond it they are neither served nor refused. */
const BACKLOG = 4096;
/** How much of that requests in progress may take to end. */
const DRAIN_MS = 4000;

type PortSetting = Setting<number> | Setting<number | undefined>;

async function serve(): Promise<void> {
  // A reader that is gone ends nothing but the output.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  let report = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  const starting = startProgram({
    role: 'server',
    env: process.env,
    progress: (line) => {
      report(line);
    },
  });
  const servers: Server[] = [];
  // From the start: a program that is stopped while it fetches MongoDB leaves nothing behind either.
  const closing = closeWithGrace({ delay: GRACE_MS, logger: false }, async ({ err }) => {
    killAfter(KILL_MS);
    const program = await starting;
    if (err) program.log.fatal({ err }, 'The program stops because of an error');
    program.log.info('stopping');
    program.app.beginClosing();
    const cut = await Promise.all(servers.map((server) => closeHttpServer(server, DRAIN_MS)));
    program.log.info({ cut: cut.reduce((sum, each) => sum + each, 0) }, 'drained');
    await program.stop();
    program.log.info('stopped');
    await prepareExit();
  });
  try {
    const program = await starting;
    // From now on there is a log, and what its servers do belongs there.
    report = (line) => {
      program.log.warn(line);
    };
    const { app } = program;
    const start = async (port: PortSetting, transport?: Transport): Promise<Server> => {
      const server = createHttpServer(app.requestListener(transport), app.settings);
      servers.push(server);
      await listen(server, app.settings, port);
      server.on('error', (error) => {
        program.log.error({ err: error }, 'A connection could not be accepted');
      });
      return server;
    };
    for (const { ownPort, transport } of app.transportsWithPorts) await start(ownPort, transport);
    await announce(program, await start(hostSettings.port));
  } catch (error) {
    closing.uninstall();
    await starting.then(
      (program) => program.stop(),
      () => undefined,
    );
    throw error;
  }
}

/** Says that the service is ready, where, and to a new user what to try first. */
async function announce({ app, servers, log }: Program, server: Server): Promise<void> {
  app.metrics.collectProcessFigures();
  app.startJobs();
  const { address, port } = server.address() as AddressInfo; // It listens on TCP.
  const scheme = app.settings.of(hostSettings.tlsCertFile) === undefined ? 'http' : 'https';
  const url = `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
  log.info({ url, notes: servers.notes }, 'The service is ready');
  process.stdout.write(`Plant care API ready at ${url}\n`);
  if (!process.argv.includes('--welcome')) return;
  for (const line of await app.welcome(url)) process.stdout.write(`${line}\n`);
}

async function listen(server: Server, settings: Settings, setting: PortSetting): Promise<void> {
  const port = settings.of(setting);
  const host = settings.of(hostSettings.host);
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => {
      const reason =
        error.code === 'EADDRINUSE'
          ? `Port ${port} on ${host} is in use; set ${setting.name} to another one.`
          : `Cannot listen on ${host} port ${port}: ${error.message}`;
      reject(new ServersError(reason));
    };
    server.once('error', refuse);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off('error', refuse);
      resolve();
    });
  });
}

serve().catch((error: unknown) => {
  const { exitCode, message } = exitOf(error);
  if (message !== undefined) process.stderr.write(`${message}\n`);
  process.exitCode = exitCode;
});
