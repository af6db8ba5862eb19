import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LOOPBACK } from './ports';

/** Resolves once something accepts connections on the port; goes on asking until the signal. */
export async function untilListening(port: number, signal: AbortSignal): Promise<void> {
  while (!(await accepts(port))) await sleep(20, undefined, { signal });
}

async function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: LOOPBACK });
    const done = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', done(true)).once('error', done(false)).setTimeout(1_000, done(false));
  });
}
