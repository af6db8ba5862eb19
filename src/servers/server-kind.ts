import type { ServerName } from './holders';

/** What is particular to mongod or to redis-server; the rest is the same for both. */
export interface ServerKind {
  name: ServerName;
  title: string;
  /** Its folder in the data directory. */
  folder: string;
  /** How long, in milliseconds, it may take to end by itself. */
  grace: number;
  arguments(port: number, home: string): string[];
  /** Resolves once the process serves on the port; goes on asking until the signal. */
  becomeReady(port: number, pid: number, signal: AbortSignal): Promise<void>;
  /** Ends what a program that was killed left unfinished in it, in the way of others. */
  takeOver?(port: number, signal: AbortSignal): Promise<void>;
  /** What it complained of last, from what it wrote to its log since its start. */
  lastError(log: string): string | undefined;
  /** Whether it ended because the port was taken. */
  portWasTaken(log: string): boolean;
  /** Whether it refused files that another version wrote. */
  refusedData(log: string): boolean;
}
