import { rmSync } from 'node:fs';
import { codeOf, explain, ServersError } from './errors';
import { addHolder, livingHolders, type Holder, type Role, type ServerName } from './holders';
import type { Layout } from './layout';
import { withLock } from './lock';
import type { ManagedServer, Serving } from './managed-server';
import type { Progress } from './progress';

/** Has a server serve: one that runs already, or a new one. */
export type Use = (server: ManagedServer) => Promise<Serving>;

/** This program's use of the servers in a data directory, which it may share with other programs. */
export class Occupancy {
  private readonly running = new Set<ManagedServer>();
  private holder: string | undefined;

  constructor(
    private readonly layout: Layout,
    private readonly role: Role,
    private readonly uses: ServerName[],
    private readonly progress: Progress,
  ) {}

  /** Writes down the use and starts what `start` asks for, while no other program starts or stops anything. */
  async begin<T>(start: (use: Use) => Promise<T>): Promise<T> {
    try {
      return await this.locked(async () => {
        const others = livingHolders(this.layout.holders);
        this.refuseSecondServer(others);
        this.holder = await addHolder(this.layout.holders, this.role, this.uses);
        process.once('exit', this.onExit);
        return start(async (server) => {
          this.running.add(server);
          return server.ensure({ shared: isUsed(server, others) });
        });
      });
    } catch (error) {
      await this.end();
      throw explain(error);
    }
  }

  /** Brings a server back that has died, on its port. */
  async restart(server: ManagedServer, signal: AbortSignal): Promise<void> {
    await this.locked(async () => {
      const others = livingHolders(this.layout.holders, this.holder);
      await server.ensure({ shared: isUsed(server, others), keepPort: true, signal });
    }, signal);
  }

  /** Ends the use and stops what nobody else uses. */
  async end(): Promise<void> {
    const { holder } = this;
    if (holder === undefined) return;
    const leave = async (): Promise<void> => {
      this.holder = undefined;
      process.removeListener('exit', this.onExit);
      rmSync(holder, { force: true });
      const others = livingHolders(this.layout.holders);
      await Promise.all(
        [...this.running].map(async (server) =>
          server.stop({ keepRecorded: isUsed(server, others) }),
        ),
      );
    };
    try {
      await this.locked(leave);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw explain(error);
      // A deleted data directory has no lock, and its servers must not stay behind for that.
      await leave();
    }
  }

  private refuseSecondServer(others: Holder[]): void {
    if (this.role !== 'server' || !this.uses.includes('mongod')) return;
    const first = others.find(({ role, uses }) => role === 'server' && uses.includes('mongod'));
    if (first === undefined) return;
    throw new ServersError(
      `The data directory ${this.layout.root} is already served by process ${first.pid}: stop that one, or give this one a DATA_DIR of its own.`,
    );
  }

  private async locked<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return withLock(this.layout.locks, work, {
      onWait: (pid) => {
        this.progress(`Waiting for process ${pid}, which is starting or stopping the servers …`);
      },
      signal,
    });
  }

  // For a program that ends without release(), by an exception or in the middle of begin(): what it
  // started is told to end, though nobody waits for it.
  private readonly onExit = (): void => {
    if (this.holder === undefined) return;
    rmSync(this.holder, { force: true });
    const others = livingHolders(this.layout.holders);
    for (const server of this.running) {
      if (!isUsed(server, others)) server.signalEnd();
    }
  };
}

function isUsed(server: ManagedServer, holders: Holder[]): boolean {
  return holders.some(({ uses }) => uses.includes(server.name));
}
