import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

import { commandOf, type MongodbCommand } from './mongodb-commands';

/** Faults of connections; all except a cut leave both ends open. */
export const NETWORK_FAULTS = [
  'delay',
  'cut',
  'black hole',
  'requests lost',
  'answers lost',
  'garbage',
] as const;

export type NetworkFault = (typeof NETWORK_FAULTS)[number];

/** The delay of each byte with `delay`. */
const DELAY_MS = 100;
/** How much later than the others the last connection breaks. */
const LAST_MS = 20;

type CommandHandler = (command: MongodbCommand) => NetworkFault | undefined;

/** A connection through the proxy. */
class Link {
  readonly near: Socket;
  readonly far: Socket;
  #fault: NetworkFault | undefined;

  constructor(near: Socket, far: Socket) {
    this.near = near;
    this.far = far;
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => socket.destroy());
      socket.on('close', () => other.destroy());
    }
  }

  get fault(): NetworkFault | undefined {
    return this.#fault;
  }

  set fault(fault: NetworkFault | undefined) {
    this.#fault = fault;
    if (fault === 'cut') this.near.destroy();
    // Unread data waits, and arrives once the connection is restored, as with retransmission.
    const isDead = fault === 'black hole';
    if (isDead || fault === 'requests lost') this.near.pause();
    else this.near.resume();
    if (isDead || fault === 'answers lost') this.far.pause();
    else this.far.resume();
  }

  send(chunk: Buffer): void {
    this.#pass(this.near, this.far, chunk);
  }

  answer(chunk: Buffer): void {
    this.#pass(
      this.far,
      this.near,
      this.#fault === 'garbage' ? Buffer.alloc(chunk.length, 0xff) : chunk,
    );
  }

  #pass(from: Socket, to: Socket, chunk: Buffer): void {
    if (from.isPaused()) from.unshift(chunk);
    else if (this.#fault === 'delay') setTimeout(() => to.write(chunk), DELAY_MS);
    else to.write(chunk);
  }
}

/** A proxy in front of MongoDB or Redis that simulates network faults. */
export class TcpProxy {
  readonly port: number;
  /** The path of the socket of the server to which later connections go. */
  to: string;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #fault: NetworkFault | undefined;
  #breakPoint: { is: (command: MongodbCommand) => boolean; when: 'before' | 'after' } | undefined;
  #unanswered: string | undefined;
  #resetShare = 0;
  #handler: CommandHandler | undefined;
  #nextFault: NetworkFault | undefined;

  private constructor(server: Server, to: string) {
    this.#server = server;
    this.to = to;
    this.port = (server.address() as AddressInfo).port; // It listens on TCP.
    server.on('connection', (near: Socket) => {
      if (this.#fault === 'cut') near.destroy();
      else this.#open(near, connect(this.to));
    });
  }

  /** @param to the path of the server's socket */
  static async start(to: string): Promise<TcpProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpProxy(server, to);
  }

  /** A proxy in front of MongoDB, and the URI through it. */
  static async before(mongodbUri: string): Promise<{ proxy: TcpProxy; uri: string }> {
    const uri = new URL(mongodbUri);
    // MongoDB listens on a socket.
    const proxy = await TcpProxy.start(decodeURIComponent(uri.hostname));
    uri.host = `127.0.0.1:${proxy.port}`;
    return { proxy, uri: uri.toString() };
  }

  /** Makes all connections fail, and later ones too unless `onlyOpen`. */
  fail(fault: NetworkFault, { onlyOpen = false }: { onlyOpen?: boolean } = {}): void {
    if (!onlyOpen) this.#fault = fault;
    for (const link of this.#links) link.fault = fault;
  }

  /** Makes all connections fail as soon as anything is sent; returns a function for whether it has. */
  failAtNext(fault: NetworkFault): () => boolean {
    this.#nextFault = fault;
    return () => this.#nextFault === undefined;
  }

  /** Ends all faults; lost connections stay lost. */
  restore(): void {
    for (const link of this.#links) {
      if (this.#fault || link.fault === 'delay') link.fault = undefined;
    }
    this.#fault = undefined;
    this.#nextFault = undefined;
    this.#unanswered = undefined;
    this.#resetShare = 0;
    this.#handler = undefined;
  }

  /** Called for each command to MongoDB; returns the fault of its connection from then on, if any. */
  onCommand(handler: CommandHandler): void {
    this.#handler = handler;
  }

  /**
   * Breaks all connections once, and the one with a command last: before the server gets the command, or
   * before the client gets the response. The driver labels only the first failure as retryable.
   *
   * @returns a function for whether it has happened
   */
  breakAt(name: string, when: 'before' | 'after', collection?: string): () => boolean {
    const is = (command: MongodbCommand): boolean =>
      command.name === name && (collection === undefined || command.collection === collection);
    const mine = { is, when };
    this.#breakPoint = mine;
    return () => this.#breakPoint !== mine;
  }

  /** Breaks each connection with a command as soon as the server responds, until restored. */
  loseAnswersTo(command: string): void {
    this.#unanswered = command;
  }

  /** Resets connections after this share of responses, until restored. */
  resetAfter(share: number): void {
    this.#resetShare = share;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const { near } of this.#links) near.destroy();
    await closed;
  }

  #open(near: Socket, far: Socket): void {
    const link = new Link(near, far);
    this.#links.add(link);
    near.on('close', () => this.#links.delete(link));
    let losesAnswer = false;
    near.on('data', (chunk: Buffer) => {
      if (this.#nextFault) {
        this.fail(this.#nextFault);
        this.#nextFault = undefined;
      }
      const command = commandOf(chunk);
      if (command && command.name === this.#unanswered) losesAnswer = true;
      if (command && this.#breakPoint?.is(command)) {
        losesAnswer = this.#breakPoint.when === 'after';
        this.#breakPoint = undefined;
        for (const other of this.#links) if (other !== link) other.near.destroy();
        if (losesAnswer) link.send(chunk);
        else destroyLast(near);
        return;
      }
      const fault = command && this.#handler?.(command);
      if (fault) link.fault = fault;
      link.send(chunk);
    });
    far.on('data', (chunk: Buffer) => {
      if (losesAnswer) destroyLast(near);
      else link.answer(chunk);
      if (Math.random() < this.#resetShare) setImmediate(() => near.resetAndDestroy());
    });
    if (this.#fault) link.fault = this.#fault;
  }
}

function destroyLast(socket: Socket): void {
  setTimeout(() => socket.destroy(), LAST_MS);
}
