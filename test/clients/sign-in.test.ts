import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { Browser } from '../../plugins/oauth/test/support/browser';
import { person, type Person } from '../../plugins/oauth/test/support/people';
import { authorize } from '../../plugins/oauth/test/support/program';
import { resetClock, setClock } from '../support/clock';
import { listening } from '../support/listening';
import { until } from '../support/processes';
import { fetchAsIs, fetchFrom, startService } from '../support/program';
import type { TestService } from '../support/service';
import { pythonWith } from './python';

const SCRIPT = path.join(__dirname, 'agents/signed_in.py');
/** The bridge for programs that start local servers; `make test-clients` installs it. */
const MCP_REMOTE = path.join(__dirname, 'node_modules/mcp-remote/dist/proxy.js');
const PACKAGES = ['mcp==2.3.0', 'fastmcp==4.2.3'];
const HOUR_MS = 3_600_000;
/** The text in the result of a successful call. */
const ANSWERED = /^(?!.*"isError": ?true).*items/;

/** A client that knows an address, and calls list_plants there. */
interface Agent {
  /** The next URL that it opens in a browser. */
  asked(): Promise<URL>;
  /** Passes it the URL to which the browser was redirected. */
  back(to: URL): unknown;
  /** The result of a call. */
  call(): Promise<string>;
  /** Advances its clock by an hour. */
  later(): void;
  end(): unknown;
}

let folder: string;
let service: TestService;
let ada: Person;
let agents: Agent[];
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'sign-in-'));
});
beforeEach(async () => {
  service = await startService({});
  ada = await person(service);
  agents = [];
});
afterEach(async () => {
  resetClock();
  fetchAsIs();
  for (const agent of agents) await agent.end();
  await service.close();
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Returns a function for the next matching line of a stream, each once. */
function linesOf(stream: Readable): (isIt: RegExp) => Promise<string> {
  const lines: string[] = [];
  let isOver = false;
  createInterface(stream)
    .on('line', (line) => lines.push(line))
    .on('close', () => {
      isOver = true;
    });
  return async (isIt) => {
    const found = (): number => lines.findIndex((line) => isIt.test(line));
    await until(() => found() >= 0 || isOver);
    if (found() < 0) throw new Error(`The program ended: ${lines.join('\n')}`);
    return lines.splice(found(), 1)[0] ?? '';
  };
}

/** The authorization URL in a line. */
function addressIn(line: string): URL {
  return new URL(/http\S+/.exec(line)?.[0] ?? '');
}

async function python(kind: 'mcp' | 'fastmcp', ...document: string[]): Promise<Agent> {
  const program = await pythonWith(folder, PACKAGES);
  const child = spawn(program, [SCRIPT, `${service.url}/api/mcp`, kind, ...document], {
    env: { ...process.env, BROWSER: 'echo %s' },
  });
  const line = linesOf(child.stdout);
  const say = (what: string): boolean => child.stdin.write(`${what}\n`);
  const agent: Agent = {
    asked: async () => addressIn(await line(/^http/)),
    back: kind === 'mcp' ? (to) => say(to.href) : (to) => fetch(to),
    call: () => {
      say('call');
      return line(/^\{/);
    },
    later: () => {
      say('later');
    },
    end: () => child.kill(),
  };
  agents.push(agent);
  return agent;
}

function mcpRemote(): Agent {
  const home = mkdtempSync(path.join(folder, 'home-'));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MCP_REMOTE, `${service.url}/api/mcp`, '--allow-http'],
    env: { PATH: process.env['PATH'] ?? '', HOME: home },
    stderr: 'pipe',
  });
  const client = new Client({ name: 'test', version: '1' });
  const connected = client.connect(transport, { timeout: 60_000 });
  const line = linesOf(transport.stderr as Readable); // It is piped.
  const agent: Agent = {
    asked: async () => addressIn(await line(/^http\S+\/oauth\/authorize/)),
    back: (to) => fetch(to),
    call: async () => {
      await connected;
      return JSON.stringify(await client.callTool({ name: 'list_plants', arguments: {} }));
    },
    later: () => undefined,
    end: () => client.close(),
  };
  agents.push(agent);
  return agent;
}

/** Revokes a person's authorized apps on the settings page. */
async function revokeAll(browser: Browser): Promise<void> {
  const { text } = await browser.go('/settings');
  const csrf = /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';
  const entries = [...text.matchAll(/value="revokeApp"[^]*?name="id" value="([^"]*)"/g)];
  expect(entries).toHaveLength(1);
  for (const [, id = ''] of entries) {
    const body = new URLSearchParams({ csrf, action: 'revokeApp', id });
    await browser.go('/settings', { method: 'POST', body });
  }
}

/** Has a person authorize a client, and expects it to have access until they revoke it. */
async function expectLetIn(agent: Agent): Promise<void> {
  const browser = new Browser(service.url);
  const first = await agent.asked();
  const page = await authorize(browser, first, ada);
  await agent.back(page.url);
  expect(await agent.call()).toMatch(ANSWERED);
  setClock(Date.now() + HOUR_MS + 1000);
  agent.later();
  expect(await agent.call()).toMatch(ANSWERED);
  await revokeAll(browser);
  const asked = agent.asked();
  const stillIn = agent.call().then((answer) => Promise.reject(new Error(answer)));
  // The client exits before the response.
  stillIn.catch(() => undefined);
  expect((await Promise.race([asked, stillIn])).href).not.toBe(first.href);
}

describe('a client signs in from the address alone, calls a tool, refreshes after an hour, and loses access when revoked:', () => {
  test("Python's mcp", async () => {
    await expectLetIn(await python('mcp'));
  });

  test('fastmcp', async () => {
    await expectLetIn(await python('fastmcp'));
  });

  test('mcp-remote', async () => {
    await expectLetIn(mcpRemote());
  });

  test('a client with a metadata document', async () => {
    const document = 'https://assistants.example/client.json';
    const asked: string[] = [];
    const server = createServer(({ url = '' }, response) => {
      asked.push(url);
      response.setHeader('Content-Type', 'application/json');
      response.end(
        JSON.stringify({
          client_id: document,
          client_name: 'Fern watcher',
          redirect_uris: ['http://127.0.0.1:41998/callback'],
        }),
      );
    });
    fetchFrom('https://assistants.example', `http://127.0.0.1:${await listening(server)}`);
    await expectLetIn(await python('mcp', document));
    expect(asked).toContain('/client.json');
    server.closeAllConnections();
    server.close();
  });
});
