import { once } from 'node:events';
import { hostname, userInfo } from 'node:os';

import type { Command } from 'commander';

import type { OfflineCheck } from '../plugins/check';
import { scopesOf, type Plugin, readSettings } from '../plugins/plugin';
import { App } from '../app/app';
import type { Acting } from '../data/audit/entry';
import type {
  CommandLine,
  CommandResult,
  DataAccess,
  StreamedResult,
  Work,
} from '../plugins/command';
import { openLog } from '../app/log';
import { type Program, startProgram } from '../app/program';
import { hostSettings } from '../core/settings/host-settings';
import type { Settings } from '../core/settings/settings';
import { EXIT } from './exit-codes';
import { progressBar } from './progress';

/** The work of a host command, which may use the whole program. */
type HostWork = (program: Program) => Promise<CommandResult | StreamedResult>;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Which data a command accepts. */
interface DataOptions {
  access?: DataAccess;
  /** Whether to accept data of another release without migrating it. */
  leaveSchema?: boolean;
  /** Whether a backup is being restored, so that the data may be incomplete. */
  restoring?: boolean;
}

/** Runs commands and prints their results. */
export class CommandRunner implements CommandLine {
  readonly scopes: ReadonlyMap<string, string>;
  /** The exit code of the command, once it has ended. */
  exitCode: number = EXIT.done;
  /** Raises the default log level, so that the log does not clutter the output. */
  readonly #env: NodeJS.ProcessEnv;
  readonly #givenEnv: NodeJS.ProcessEnv;

  constructor(
    readonly program: Command,
    readonly plugins: readonly Plugin[],
    env: NodeJS.ProcessEnv,
  ) {
    this.scopes = scopesOf(plugins);
    this.#givenEnv = env;
    this.#env = { ...env, LOG_LEVEL: env[hostSettings.logLevel.name] || 'warn' };
  }

  run(work: Work): Promise<void> {
    return this.#run(work, {});
  }

  change(work: Work): Promise<void> {
    return this.#run(work, { access: 'change' });
  }

  read(work: Work): Promise<void> {
    return this.#run(work, { access: 'read' });
  }

  /**
   * Runs work that needs the servers, and prints its result.
   *
   * @param options as those of {@link withProgram}
   */
  runHost(work: HostWork, options?: DataOptions): Promise<void> {
    return this.withProgram(async (program) => {
      const result = await work(program);
      // Print it before the servers stop, which may fail.
      if ('pieces' in result) await this.#printEach(result);
      else this.print(result);
    }, options);
  }

  /** Runs work that needs the servers, and always stops the servers that it started. */
  async withProgram<T>(
    work: (program: Program) => Promise<T>,
    options: DataOptions = {},
  ): Promise<T> {
    let program: Program | undefined;
    const interruption = new AbortController();
    const interrupt = (): void => {
      // Already stopping: npm forwards a signal that the terminal has sent to the whole group.
      if (interruption.signal.aborted) return;
      interruption.abort();
      process.stderr.write('Interrupted.\n');
      // Servers that are still starting end when this process exits.
      const stopped = program?.stop() ?? Promise.resolve();
      void stopped.catch(() => undefined).then(() => process.exit(EXIT.failed));
    };
    for (const signal of SIGNALS) process.on(signal, interrupt);
    try {
      program = await startProgram({
        role: 'tool',
        plugins: this.plugins,
        env: this.#env,
        acting: this.#acting,
        ...options,
        progress: (line) => {
          process.stderr.write(`${line}\n`);
        },
      });
      return await work(program);
    } catch (error) {
      // After an interruption, errors only come from the servers being stopped.
      await untilExit(interruption.signal);
      throw error;
    } finally {
      await untilExit(interruption.signal);
      await program?.stop();
      for (const signal of SIGNALS) process.off(signal, interrupt);
    }
  }

  /** Runs work that needs the plugins but no servers. */
  runOffline(work: (app: App) => CommandResult): void {
    this.print(
      work(new App({ plugins: this.plugins, env: this.#env, log: openLog(this.#env).log })),
    );
  }

  /**
   * Returns the settings that a server would have in this environment.
   *
   * @throws SettingsError
   */
  serverSettings(): Settings {
    return readSettings(this.plugins, this.#givenEnv);
  }

  /** Those of plugins. */
  get checks(): OfflineCheck[] {
    return this.plugins.flatMap(({ checks = [] }) => checks);
  }

  get isJson(): boolean {
    return this.#options.json === true;
  }

  print({ result, text, exitCode = EXIT.done }: CommandResult): void {
    process.stdout.write(this.isJson ? JSON.stringify(result) : text);
    // On its own, since a disk that fills up cuts a write short and fails only the next.
    process.stdout.write('\n');
    this.exitCode = exitCode;
  }

  #run(work: Work, options: DataOptions): Promise<void> {
    return this.runHost(
      ({ app }) => work({ exportsOf: (plugin) => app.exportsOf(plugin), progress: progressBar }),
      options,
    );
  }

  async #printEach({ pieces }: StreamedResult): Promise<void> {
    const cut = new AbortController();
    const onError = (): void => {
      cut.abort();
    };
    // Another listener reports the error, except EPIPE, as when the reader is head.
    process.stdout.once('error', onError);
    for await (const piece of pieces(this.isJson)) {
      if (cut.signal.aborted) return;
      if (!process.stdout.write(piece)) await once(process.stdout, 'drain').catch(() => undefined);
    }
    process.stdout.write('\n');
    process.stdout.off('error', onError);
  }

  get #acting(): Acting {
    const { as: name = systemUser() } = this.#options;
    return { actor: { type: 'operator', name, host: hostname() } };
  }

  get #options(): { json?: boolean; as?: string } {
    return this.program.opts();
  }
}

/** Returns the name of the operating system's user, or the uid if it has none. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Waits for the process to exit if there was an interruption. */
async function untilExit(interruption: AbortSignal): Promise<void> {
  if (interruption.aborted) await new Promise(() => undefined);
}
