import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, Http2ServerRequest, type ServerHttp2Stream } from 'node:http2';

/** A request from when its head was read until its response was sent or its connection is gone. */
export class Exchange {
  /** Its stream, over HTTP/2. */
  readonly stream: ServerHttp2Stream | undefined;
  readonly #since = performance.now();
  /** When the client last took some of the response, or had none to take. */
  #progressAt = this.#since;
  #unsent = 0;

  /** @param answer begins to answer it */
  constructor(
    readonly request: IncomingMessage | Http2ServerRequest,
    readonly response: ServerResponse,
    public answer: () => unknown,
  ) {
    this.stream = request instanceof Http2ServerRequest ? request.stream : undefined;
    response.on('drain', () => {
      this.#progressAt = performance.now();
    });
  }

  /** For how many ms its client has taken none of what there is to take; asked again and again. */
  stalledFor(now: number): number {
    const { writableEnded, writableLength: unsent } = this.response;
    if ((unsent === 0 && !writableEnded) || unsent !== this.#unsent) this.#progressAt = now;
    this.#unsent = unsent;
    return now - this.#progressAt;
  }

  /** For how many ms its body has been arriving; 0 once it is there. */
  arrivesFor(now: number): number {
    const isThere = this.request.complete || this.stream?.endAfterHeaders === true;
    return isThere ? 0 : now - this.#since;
  }

  /** Has its client told to send no more of the body once it has the answer (RFC 9113, 8.1). */
  closeOnceAnswered(stream: ServerHttp2Stream, lingerMs: number): void {
    stream.once('finish', () => {
      if (this.request.complete || stream.endAfterHeaders) return;
      setTimeout(() => {
        if (this.request.complete) return;
        stream.close(constants.NGHTTP2_NO_ERROR);
        stream.destroy();
      }, lingerMs).unref();
    });
  }
}
