import { once } from 'node:events';
import { hostname, userInfo } from 'node:os';

import type { Command } from 'commander';

import { scopesOf } from '../app/api-description';
import { App } from '../app/app';
import type { Acting } from '../data/audit/entry';
import type { CommandLine, CommandResult, RunningApp, StreamedResult } from '../plugins/command';
import type { Plugin } from '../plugins/plugin';
import { openLog } from '../app/process/log';
import { type Program, startProgram } from '../app/program';
import { readSettings } from '../app/settings';
import { hostSettings } from '../core/settings/host-settings';
import type { Settings } from '../core/settings/settings';
import { EXIT } from './exit-codes';
import { progressBar } from './progress';

/** Work of a command that the host itself adds, and that reaches what plugins need not. */
type HostWork = (program: Program, app: RunningApp) => Promise<CommandResult | StreamedResult>;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** In what state a command takes the data. */
interface DataOptions {
  /** Whether data that does not fit this version is left as it is. */
  leaveSchema?: boolean;
  /** Whether it restores a backup, and data need not be whole. */
  restoring?: boolean;
}

/** Runs the work of commands, and prints what it answers. */
export class CommandRunner implements CommandLine {
  readonly scopes: ReadonlyMap<string, string>;
  /** How the command ended, once it has. */
  exitCode: number = EXIT.done;
  /** The server's settings would have it log more than people want to read beside a result. */
  readonly #env: NodeJS.ProcessEnv;
  readonly #givenEnv: NodeJS.ProcessEnv;
  readonly #plugins: readonly Plugin[];

  constructor(
    readonly program: Command,
    plugins: readonly Plugin[],
    env: NodeJS.ProcessEnv,
  ) {
    this.#plugins = plugins;
    this.scopes = scopesOf(plugins);
    this.#givenEnv = env;
    this.#env = { ...env, LOG_LEVEL: env[hostSettings.logLevel.name] || 'warn' };
  }

  run(work: (app: RunningApp) => Promise<CommandResult | StreamedResult>): Promise<void> {
    return this.runHost((_program, app) => work(app));
  }

  /**
   * Does work with the servers up, and prints what it answers.
   *
   * @param options as those of {@link withProgram}
   */
  runHost(work: HostWork, options?: DataOptions): Promise<void> {
    return this.withProgram(async (program) => {
      const result = await work(program, runningApp(program));
      // It is printed even if the servers then do not stop as they should.
      if ('pieces' in result) await this.#printEach(result);
      else this.print(result);
    }, options);
  }

  /** Does work with the servers up, and leaves no server behind, whatever ends it. */
  async withProgram<T>(
    work: (program: Program) => Promise<T>,
    options: DataOptions = {},
  ): Promise<T> {
    let program: Program | undefined;
    const interruption = new AbortController();
    const interrupt = (): void => {
      // Again while it stops already: npm passes on what the terminal has sent to all.
      if (interruption.signal.aborted) return;
      interruption.abort();
      process.stderr.write('Interrupted.\n');
      // Servers that are being started are signalled to end when this process exits.
      const stopped = program?.stop() ?? Promise.resolve();
      void stopped.catch(() => undefined).then(() => process.exit(EXIT.failed));
    };
    for (const signal of SIGNALS) process.on(signal, interrupt);
    try {
      program = await startProgram({
        role: 'tool',
        plugins: this.#plugins,
        env: this.#env,
        acting: this.#acting,
        ...options,
        progress: (line) => {
          process.stderr.write(`${line}\n`);
        },
      });
      return await work(program);
    } catch (error) {
      // An error that comes of the servers being stopped is of no interest.
      await untilExit(interruption.signal);
      throw error;
    } finally {
      await untilExit(interruption.signal);
      await program?.stop();
      for (const signal of SIGNALS) process.off(signal, interrupt);
    }
  }

  /** Does work that needs the plugins set up, and no server. */
  runOffline(work: (app: App) => CommandResult): void {
    this.print(
      work(new App({ plugins: this.#plugins, env: this.#env, log: openLog(this.#env).log })),
    );
  }

  /**
   * The settings that a server would have here.
   *
   * @throws SettingsError
   */
  serverSettings(): Settings {
    return readSettings(this.#plugins, this.#givenEnv);
  }

  /** Whether the result is wanted as JSON. */
  get isJson(): boolean {
    return this.#options.json === true;
  }

  print({ result, text, exitCode = EXIT.done }: CommandResult): void {
    process.stdout.write(`${this.isJson ? JSON.stringify(result) : text}\n`);
    this.exitCode = exitCode;
  }

  async #printEach({ pieces }: StreamedResult): Promise<void> {
    const cut = new AbortController();
    const onError = (): void => {
      cut.abort();
    };
    // Whoever else listens says why, unless the reader has only seen enough, as head does.
    process.stdout.once('error', onError);
    for await (const piece of pieces(this.isJson)) {
      if (cut.signal.aborted) return;
      if (!process.stdout.write(piece)) await once(process.stdout, 'drain').catch(() => undefined);
    }
    process.stdout.write('\n');
    process.stdout.off('error', onError);
  }

  /** Who the audit log says did it. */
  get #acting(): Acting {
    const { as: name = systemUser() } = this.#options;
    return { actor: { type: 'operator', name, host: hostname() } };
  }

  get #options(): { json?: boolean; as?: string } {
    return this.program.opts();
  }
}

/** The user of the operating system; by number where it has no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Waits for the end that an interruption brings about; does nothing where there was none. */
async function untilExit(interruption: AbortSignal): Promise<void> {
  if (interruption.aborted) await new Promise(() => undefined);
}

function runningApp({ app }: Program): RunningApp {
  return { exportsOf: (plugin) => app.exportsOf(plugin), progress: progressBar };
}
