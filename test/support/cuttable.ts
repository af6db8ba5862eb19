import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server that can be cut and restored: what goes through it goes on unchanged. */
export interface CuttableWay {
  port: number;
  /** Ends all connections and takes no more. */
  cut(): void;
  /** Keeps all connections, and takes more, but lets nothing through. */
  hang(): void;
  restore(): void;
  /**
   * Breaks all connections, once: last of all the one on which a command (on a collection) is sent,
   * before the server gets it or when the server's answer is on its way. By then the driver has
   * noticed already, and labels the last failure as nothing that may be tried again.
   *
   * Answers whether it has come to that.
   */
  breakAt(command: string, when: 'before' | 'after', collection?: string): () => boolean;
  /** Breaks each connection on which a text was sent as soon as the server answers, until restored. */
  loseAnswersTo(text: string): void;
  close(): Promise<void>;
}

/** How much later the connection breaks that is to break last. */
const LAST_MS = 20;

/** @param to the path of the server's socket */
export async function cuttableWay(to: string): Promise<CuttableWay> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let hangs = false;
  let unanswered: string | undefined;
  let breaking: { bytes: Buffer; when: 'before' | 'after' } | undefined;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    if (hangs) socket.pause();
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((near) => {
    keep(near);
    if (isCut) {
      near.destroy();
      return;
    }
    const far = connect(to);
    keep(far);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    let losesAnswer = false;
    near.on('data', (chunk: Buffer) => {
      if (unanswered !== undefined && chunk.includes(unanswered)) losesAnswer = true;
      if (!breaking || !chunk.includes(breaking.bytes)) {
        far.write(chunk);
        return;
      }
      losesAnswer = breaking.when === 'after';
      breaking = undefined;
      for (const other of sockets) if (other !== near && other !== far) other.destroy();
      if (losesAnswer) far.write(chunk);
      else setTimeout(() => near.destroy(), LAST_MS);
    });
    far.on('data', (chunk: Buffer) => {
      if (losesAnswer) setTimeout(() => near.destroy(), LAST_MS);
      else near.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      isCut = true;
      cutAll();
    },
    hang: () => {
      hangs = true;
      for (const socket of sockets) socket.pause();
    },
    restore: () => {
      isCut = false;
      hangs = false;
      for (const socket of sockets) socket.resume();
      unanswered = undefined;
    },
    loseAnswersTo: (text) => {
      unanswered = text;
    },
    breakAt: (command, when, collection) => {
      const mine = { bytes: bytesOf(command, collection), when };
      breaking = mine;
      return () => breaking !== mine;
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      cutAll();
      await closed;
    },
  };
}

/** How a command begins in BSON: its name, and in most the collection's length and name. */
function bytesOf(command: string, collection: string | undefined): Buffer {
  const name = Buffer.from(`${command}\0`);
  if (collection === undefined) return name;
  const length = Buffer.alloc(4);
  length.writeInt32LE(collection.length + 1);
  return Buffer.concat([name, length, Buffer.from(`${collection}\0`)]);
}
