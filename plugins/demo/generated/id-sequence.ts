import { randomBytes } from 'node:crypto';

import { mongo } from 'mongoose';
import { v7 } from 'uuid';

/**
 * Ids as the host makes them, of one moment and counted up from there: by the million, drawing
 * fresh random bits for each would take longer than all else.
 */
export class IdSequence {
  readonly #random = randomBytes(16);
  readonly #msecs = Date.now();
  #next = 0;

  next(): mongo.UUID {
    const parts = { random: this.#random, msecs: this.#msecs, seq: this.#next++ };
    return new mongo.UUID(v7(parts, Buffer.allocUnsafe(16)));
  }
}
