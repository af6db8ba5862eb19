import { once } from 'node:events';
import { createServer, get } from 'node:http';

import { whileInactive } from '../../src/middleware/inactivity';
import { listening } from '../support/listening';

test('a response may begin later than a connection may be inactive, but then must go on', async () => {
  let inTime = (): void => undefined;
  const other = new Promise<void>((resolve) => (inTime = resolve));
  const server = createServer((request, response) => {
    if (request.url !== '/export') return;
    void whileInactive(request, () => other).then(() => response.write('begun'));
  });
  server.timeout = 300;
  const url = `http://127.0.0.1:${await listening(server)}`;
  const exported = get(`${url}/export`);
  const response = once(exported, 'response');
  // This one has no such need; it began later and is cut off.
  await once(server, 'request');
  const idle = get(url);
  await expect(once(idle, 'response')).rejects.toThrow('socket hang up');
  inTime();
  const [answer] = (await response) as [NodeJS.ReadableStream];
  answer.resume();
  await expect(once(answer, 'end')).rejects.toThrow('aborted');
  server.close();
});
