import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

import { mongo } from 'mongoose';

interface DriverConnection {
  socket: Socket;
  writeCommand: (...given: readonly unknown[]) => Promise<void>;
}

const guarded = new WeakSet<Socket>();

/**
 * Makes commands fail that MongoDB's driver writes to a connection while it closes. Call it once.
 *
 * The driver (7.8) waits for the socket to drain, since https://github.com/mongodb/node-mongodb-native/pull/4022.
 * That never happens once it is closed: no time-out ends the wait, and the connection stays in use for ever. If
 * the socket breaks meanwhile, the driver throws an error that it does not retry.
 */
export function failWritesToClosedSockets(): void {
  const requireOfMongoose = createRequire(require.resolve('mongoose'));
  // The driver does not export this type; a test checks it.
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

/** Fails those who wait for a closed socket to drain. */
function guard(socket: Socket): void {
  if (guarded.has(socket)) return;
  guarded.add(socket);
  const fail = (): void => {
    if (socket.listenerCount('drain') > 0) socket.emit('error', networkError());
  };
  socket.once('close', () => {
    fail();
    socket.on('newListener', (event) => {
      // The listener is added after this event.
      if (event === 'drain') process.nextTick(fail);
    });
  });
}

function networkError(reason?: unknown): mongo.MongoNetworkError {
  const message = 'The connection was closed while a command was sent.';
  return new mongo.MongoNetworkError(message, reason instanceof Error ? { cause: reason } : {});
}
