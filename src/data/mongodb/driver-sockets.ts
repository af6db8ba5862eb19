import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

import { mongo } from 'mongoose';

/** A connection of MongoDB's driver, as far as it matters here. */
interface DriverConnection {
  socket: Socket;
  writeCommand: (...given: readonly unknown[]) => Promise<void>;
}

const guarded = new WeakSet<Socket>();

/**
 * Has commands of MongoDB's driver fail that are written to a connection as it closes.
 *
 * The driver (7.8) waits for the socket to drain, which one that is closed never does: neither its
 * timeout nor a ping that is answered ends that, and the connection is in use for ever. Where the
 * socket breaks meanwhile it fails with an error that its own retries cannot read. To be called once.
 */
export function failWritesToClosedSockets(): void {
  const requireOfMongoose = createRequire(require.resolve('mongoose'));
  // The driver has no types for what is its own; a test shows that this is what it has.
  const { Connection } = requireOfMongoose('mongodb/lib/cmap/connection') as {
    Connection: { prototype: DriverConnection };
  };
  const { writeCommand } = Connection.prototype;
  Connection.prototype.writeCommand = async function write(...given): Promise<void> {
    guard(this.socket);
    try {
      await Reflect.apply(writeCommand, this, given);
    } catch (error) {
      throw error instanceof mongo.MongoError ? error : networkError(error);
    }
  };
}

/** Has whoever waits for a socket to drain, or begins to, know when it is closed. */
function guard(socket: Socket): void {
  if (guarded.has(socket)) return;
  guarded.add(socket);
  const fail = (): void => {
    if (socket.listenerCount('drain') > 0) socket.emit('error', networkError());
  };
  socket.once('close', () => {
    fail();
    socket.on('newListener', (event) => {
      // The listener is there only afterwards.
      if (event === 'drain') process.nextTick(fail);
    });
  });
}

function networkError(reason?: unknown): mongo.MongoNetworkError {
  const message = 'The connection was closed while a command was sent.';
  return new mongo.MongoNetworkError(message, reason instanceof Error ? { cause: reason } : {});
}
