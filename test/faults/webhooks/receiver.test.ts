import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Webhook } from 'standardwebhooks';

import { freePort, until } from '../../support/processes';

const RECEIVER = path.resolve(__dirname, '../../../examples/webhook-receiver/receiver.js');
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

let folder: string;
let port: number;
let receiver: ChildProcess;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'plant-care-receiver-'));
  port = await freePort();
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: SECRET };
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  receiver = spawn(process.execPath, [RECEIVER, path.join(folder, 'events')], {
    env,
    stdio: [...stdio],
  });
  if (receiver.stdout) await once(receiver.stdout, 'data');
});
afterAll(() => {
  receiver.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Sends an event; returns the status of the response. */
async function send(id: string, body: string, secret = SECRET): Promise<number> {
  const at = new Date();
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
  const url = `http://127.0.0.1:${port}/`;
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

test('the example receiver survives a request that breaks off', async () => {
  const socket = connect(port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"type":');
  await once(socket, 'connect');
  // Once this has been answered, the receiver has read the other.
  expect(await send('msg_1', '{"type":"plant.created"}')).toBe(204);
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
  // By one of these it has noticed.
  for (let sent = 0; sent < 20; sent += 1) {
    expect(await send('msg_1', '{"type":"plant.created"}')).toBe(204);
  }
});

test('the example receiver refuses events that are not signed with its secret, and records others once', async () => {
  const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
  expect(await send('msg_2', '{"type":"plant.created"}', other)).toBe(401);
  expect(await send('msg_3', '{"type":"plant.deleted"}')).toBe(204);
  expect(await send('msg_3', '{"type":"plant.deleted"}')).toBe(204);
  const text = () => readFileSync(path.join(folder, 'events'), 'utf8');
  await until(() => text().includes('msg_3'));
  expect(text().match(/msg_\d/g)).not.toContain('msg_2');
  expect(text().match(/msg_3/g)).toHaveLength(1);
});
