import { randomUUID } from 'node:crypto';

import { until } from '../support/processes';
import { exchange } from '../support/raw';
import type { TestService, TestUser } from '../support/service';
import { startService } from '../support/program';

const NAME = `name-${randomUUID()}`;

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService({ env: { LOG_CLIENT_IP: 'full' } });
  user = await service.user({ id: NAME });
});
afterAll(() => service.close());

test('wherever a token or name is sent, neither appears in the log or the metrics', async () => {
  const { token } = user;
  for (const secret of [token, NAME]) {
    for (const good of [true, false]) {
      const headers: Record<string, string> = {
        'user-agent': secret,
        cookie: `session=${secret}`,
        referer: `http://${secret}/`,
        traceparent: `00-${secret}-01`,
        'idempotency-key': secret,
        'x-forwarded-for': secret,
        'if-match': `"${secret}"`,
        authorization: good ? `Bearer ${token}` : `Basic ${secret}`,
      };
      const json = { ...headers, 'content-type': 'application/json' };
      const send = (path: string, init: RequestInit = {}) =>
        fetch(`${service.url}${path}`, { headers, ...init }).then((answer) => answer.text());
      const post = (path: string, body: unknown) =>
        send(path, { method: 'POST', headers: json, body: JSON.stringify(body) });
      const call = (name: string, args: unknown) =>
        post('/api/mcp', {
          jsonrpc: '2.0',
          id: secret,
          method: 'tools/call',
          params: { name, arguments: args },
        });
      await send(`/${secret}`);
      await send(`/api/plants/${secret}`);
      await send(`/api/plants?token=${secret}&${secret}=1`);
      await send('/api/plants', { method: 'PROPFIND' });
      await post('/api/plants', { name: secret, [secret]: secret });
      await post('/api/plants', { name: secret });
      await post('/api/plants', secret);
      await post('/api/mcp', { jsonrpc: '2.0', id: 1, method: secret });
      await call(secret, { [secret]: secret });
      await call('create_plant', { name: secret, [secret]: secret });
      await call('create_plant', secret);
      // Operators need to know which page was refused.
      const origin = secret === NAME ? 'http://evil.example' : `http://${secret}`;
      await send('/api/mcp', { method: 'POST', headers: { ...json, origin } });
      await send('/docs', { method: 'POST', headers: json, body: `{"${secret}` });
      await send('/metrics');
    }
    const lines = [
      `${secret} / HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET /${secret} HTTP/1.1\r\nHost: ${secret}\r\nConnection: close\r\n\r\n`,
      `GET / HTTP/9.9\r\n${secret}: ${secret}\r\n\r\n`,
    ];
    for (const line of lines) await exchange(service.url, line);
  }
  // The caller's own request id is logged, unless it contains the token.
  await user.get('/api/plants').set('X-Request-Id', token).expect(200);
  await user.get('/api/plants').set('X-Request-Id', `a.${token}`).expect(200);
  const other = await service.user();
  await other.get('/api/plants').set('X-Request-Id', token).expect(200);
  await fetch(`${service.url}/api/plants`, { headers: { 'X-Request-Id': token } });
  await user.get('/api/plants').set('X-Request-Id', 'the-last').expect(200);
  await until(() => service.logged.some((line) => line.includes('the-last')));
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  for (const text of [service.logged.join(''), metrics]) {
    expect(text).toMatch(/create_plant/);
    // Not shown in full if it fails.
    const found = text.split('\n').filter((line) => line.includes(token) || line.includes(NAME));
    expect(found).toEqual([]);
  }
});
