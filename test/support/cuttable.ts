import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server that can be cut and mended: what goes through it goes on unchanged. */
export interface CuttableWay {
  port: number;
  /** Ends all connections and takes no more. */
  cut(): void;
  mend(): void;
  /**
   * Breaks all connections, once: last of all the one on which a text is sent, before the server
   * gets it or when the server's answer is on its way. By then the driver has noticed already, and
   * labels the last failure as nothing that may be tried again.
   */
  breakAt(text: string, when: 'before' | 'after'): void;
  /** Breaks each connection on which a text was sent as soon as the server answers, until mended. */
  loseAnswersTo(text: string): void;
  close(): Promise<void>;
}

/** How much later the connection breaks that is to break last. */
const LAST_MS = 20;

export async function cuttableWay(host: string, to: number): Promise<CuttableWay> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let unanswered: string | undefined;
  let breaking: { text: string; when: 'before' | 'after' } | undefined;
  const keep = (socket: Socket): void => {
    sockets.add(socket);
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
    const far = connect(to, host);
    keep(far);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
    let losesAnswer = false;
    near.on('data', (chunk: Buffer) => {
      if (unanswered !== undefined && chunk.includes(unanswered)) losesAnswer = true;
      if (!breaking || !chunk.includes(breaking.text)) {
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
    mend: () => {
      isCut = false;
      unanswered = undefined;
    },
    loseAnswersTo: (text) => {
      unanswered = text;
    },
    breakAt: (text, when) => {
      breaking = { text, when };
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      cutAll();
      await closed;
    },
  };
}
