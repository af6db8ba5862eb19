import { connect } from 'node:net';

export interface CrowdOrder {
  port: number;
  tokens: readonly string[];
  clients: number;
}

export interface CrowdReport {
  /** The number of clients by status, `closed`, or the error. */
  outcomes: Record<string, number>;
  /** The response times of 200s, in milliseconds. */
  accepted: number[];
}

const PATIENCE_MS = 60_000;

/** A client connects, sends one request, and stays connected, as a phone does. */
function ask(
  { port, tokens }: CrowdOrder,
  index: number,
): Promise<{ outcome: string; ms: number }> {
  const started = performance.now();
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (outcome: string): void => {
      resolve({ outcome, ms: performance.now() - started });
    };
    socket.setTimeout(PATIENCE_MS, () => {
      end('unanswered');
    });
    socket.on('connect', () =>
      socket.write(
        `GET /api/locations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tokens[index % tokens.length] ?? ''}\r\n\r\n`,
      ),
    );
    socket.on('data', (chunk: Buffer) => {
      end(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString('latin1'))?.[1] ?? 'no HTTP');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      end(error.code === 'ECONNRESET' || error.code === 'EPIPE' ? 'closed' : error.message);
    });
    socket.on('close', () => {
      end('closed');
    });
  });
}

process.once('message', (order: CrowdOrder) => {
  void Promise.all(Array.from({ length: order.clients }, (_, index) => ask(order, index))).then(
    (answers) => {
      const outcomes: Record<string, number> = {};
      for (const { outcome } of answers) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      const accepted = answers.flatMap(({ outcome, ms }) => (outcome === '200' ? [ms] : []));
      process.send?.({ outcomes, accepted } satisfies CrowdReport);
    },
  );
});
