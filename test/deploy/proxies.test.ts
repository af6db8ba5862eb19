import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { DEPLOY } from './dockerfile';
import { fetchPackages } from './packages';
import { until, freePort } from '../support/processes';
import { send } from '../support/raw';
import type { TestService, TestUser } from '../support/service';
import { bodyOf } from '../support/shapes';
import { startService } from '../support/program';

const NAME = 'plants.example.com';

/** Starts each with its example, with other ports and no certificate. */
const PROXIES: Record<string, (folder: string, ports: { own: number; api: string }) => string[]> = {
  nginx: (folder, { own, api }) => {
    const site = readFileSync(path.join(DEPLOY, 'nginx/plant-care.conf'), 'utf8')
      .replace('listen 443 ssl;', `listen 127.0.0.1:${own};`)
      .replace(/ssl_certificate.*\n/g, '\n')
      .replace('127.0.0.1:3000', `127.0.0.1:${api}`)
      .replaceAll('/var/log/nginx/', `${folder}/log/`);
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((each) => `${each}_temp_path ${folder}/tmp;`)
      .join(' ');
    writeFileSync(
      path.join(folder, 'nginx.conf'),
      `daemon off; pid ${folder}/pid; error_log stderr; events {}
      http { access_log off; ${places} gzip on; gzip_types application/json; ${site} }`,
    );
    return [path.join(folder, 'usr/sbin/nginx'), '-p', folder, '-c', 'nginx.conf'];
  },
  caddy: (folder, { own, api }) => {
    const site = readFileSync(path.join(DEPLOY, 'caddy/Caddyfile'), 'utf8')
      .replace(`${NAME} {`, `http://:${own} {`)
      .replace('127.0.0.1:3000', `127.0.0.1:${api}`);
    const file = path.join(folder, 'Caddyfile');
    const toFile = `{\n\tadmin off\n\tlog {\n\t\toutput file ${folder}/log/caddy.log`;
    writeFileSync(file, site.replace('{\n\tlog {', toFile));
    return [path.join(folder, 'usr/bin/caddy'), 'run', '--config', file, '--adapter', 'caddyfile'];
  },
};

describe.each(Object.keys(PROXIES))('behind %s with the example configuration,', (name) => {
  let folder: string;
  let service: TestService;
  let user: TestUser;
  let proxy: ChildProcess;
  let url: string;

  let isClosed = false;
  const closeService = async (): Promise<void> => {
    if (!isClosed) await service.close();
    isClosed = true;
  };

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), `${name}-`));
    fetchPackages(folder, name);
    mkdirSync(path.join(folder, 'tmp'));
    mkdirSync(path.join(folder, 'log'));
    service = await startService({
      env: { TRUST_PROXY: '1', PUBLIC_URL: `https://${NAME}` },
    });
    user = await service.user();
    const own = await freePort();
    const [file = '', ...args] =
      PROXIES[name]?.(folder, { own, api: new URL(service.url).port }) ?? [];
    proxy = spawn(file, args, { cwd: folder, env: { HOME: folder }, stdio: 'ignore' });
    url = `http://127.0.0.1:${own}`;
    await until(() =>
      ask('GET', '/healthz').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
  });
  afterAll(async () => {
    proxy.kill();
    await once(proxy, 'exit');
    await closeService();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = (method: string, at: string, headers: Record<string, string> = {}, body?: object) =>
    send(url, method, at, {
      headers: {
        Host: NAME,
        Authorization: `Bearer ${user.token}`,
        'Content-Type': 'application/json',
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });

  test('ETags match, even if the proxy changes them when it compresses', async () => {
    const plant = await user.plant({ notes: 'n'.repeat(700) });
    const at = `/api/plants/${plant.id}`;
    for (const coding of ['gzip', 'zstd', 'br', 'identity']) {
      const accept = { 'Accept-Encoding': coding };
      const { etag = '' } = (await ask('GET', at, accept)).headers;
      const again = await ask('GET', at, { ...accept, 'If-None-Match': etag });
      expect([coding, again.status]).toEqual([coding, 304]);
      const changed = await ask('PATCH', at, { ...accept, 'If-Match': etag }, { name: coding });
      expect([coding, changed.status]).toEqual([coding, 200]);
      const refused = await ask('PATCH', at, { ...accept, 'If-Match': etag }, { name: 'other' });
      expect([coding, refused.status]).toEqual([coding, 412]);
    }
  });

  test('the tool endpoint accepts the host, and there is no warning', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const accept = { Accept: 'application/json, text/event-stream' };
    expect((await ask('POST', '/api/mcp', accept, message)).status).toBe(200);
    const ready = await user.get('/readyz').expect(200);
    expect(bodyOf(ready)).toMatchObject({ warnings: [] });
  });

  test('the metrics are not reachable from outside', async () => {
    expect((await ask('GET', '/metrics')).status).toBe(404);
  });

  test('no secret of a link is in its log, also while the server is away', async () => {
    const secret = 'X'.repeat(24);
    const see = async () => {
      for (const at of [
        `/calendar/${secret}.ics`,
        `/sitter/${secret}`,
        `/sitter/${secret}/01890a5d-ac96-774b-bcce-b302099a8057?did=${secret}`,
        `/join?code=${secret}`,
        `/recover?link=${secret}`,
        '/favicon.ico',
      ])
        await ask('GET', at, { Referer: `https://${NAME}/sitter/${secret}` });
    };
    await see();
    await closeService();
    await see();
    const logs = path.join(folder, 'log');
    const logged = (): string =>
      readdirSync(logs)
        .map((file) => readFileSync(path.join(logs, file), 'utf8'))
        .join('');
    await until(() => (logged().match(/\/favicon\.ico/g)?.length ?? 0) >= 2);
    for (const shown of ['/calendar/-', '/sitter/-', '/join']) expect(logged()).toContain(shown);
    expect(logged()).not.toContain(secret);
    expect(logged()).not.toContain(user.token);
  });
});
