/** The overhead of a tool call over the same operation by REST: medians of calls in turns, each on its
 * own connection, to a program of its own. Exits with 1 if it exceeds the budget.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';

import accountsPlugin from '../../plugins/accounts';
import { createHttpServer } from '../../src/http/server';
import { type Program, startProgram } from '../../src/app/program';
import { loadPlugins } from '../../src/plugins/loader';
import { listening } from '../support/listening';
import { median } from '../support/statistics';

const BUDGET_MS = 1.5;
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 1000);
const WARM_UP = Math.ceil(ROUNDS / 5);
const REVISION = '2026-07-28';

/** An operation over REST and as a tool. */
interface Subject {
  name: string;
  method: string;
  path: string;
  body?: object;
  arguments: object;
}

interface Sent {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: object | undefined;
}

/** A client with one keep-alive connection. */
class Caller {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #port: number;
  readonly #token: string;

  constructor(port: number, token: string) {
    this.#port = port;
    this.#token = token;
  }

  send({ method, path: at, headers = {}, body }: Sent): Promise<string> {
    const json = body && JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          agent: this.#agent,
          host: '127.0.0.1',
          port: this.#port,
          method,
          path: at,
          headers: {
            authorization: `Bearer ${this.#token}`,
            ...(json === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(json) }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            const { statusCode = 0 } = response;
            if (statusCode < 300 && !text.includes('"isError":true')) resolve(text);
            else reject(new Error(`${method} ${at}: ${statusCode} ${text}`));
          });
        },
      );
      sent.on('error', reject);
      sent.end(json);
    });
  }

  async timed(sent: Sent): Promise<number> {
    const started = process.hrtime.bigint();
    await this.send(sent);
    return Number(process.hrtime.bigint() - started) / 1e6;
  }
}

function toolCall({ name, arguments: given }: Subject): Sent {
  const params = { name, arguments: given };
  return {
    method: 'POST',
    path: '/api/mcp',
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  };
}

function statelessToolCall(subject: Subject): Sent {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name: subject.name, arguments: subject.arguments, _meta: meta };
  return {
    ...toolCall(subject),
    headers: {
      'mcp-protocol-version': REVISION,
      'mcp-method': 'tools/call',
      'mcp-name': subject.name,
    },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
  };
}

async function measure(caller: Caller, subject: Subject): Promise<boolean> {
  const ways = { rest: subject, tool: toolCall(subject), stateless: statelessToolCall(subject) };
  const names = Object.keys(ways) as (keyof typeof ways)[]; // Its very keys.
  const times = { rest: [] as number[], tool: [] as number[], stateless: [] as number[] };
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    // The order rotates, so that none always follows the slowest.
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(round + WARM_UP + turn) % names.length] ?? 'rest';
      const time = await caller.timed(ways[name]);
      if (round >= 0) times[name].push(time);
    }
  }
  const [rest, tool, stateless] = names.map((name) => median(times[name]));
  const more = [tool, stateless].map((time) => (time ?? NaN) - (rest ?? NaN));
  const cells = [rest, tool, stateless, ...more].map((cell = NaN) => cell.toFixed(3).padStart(10));
  process.stdout.write(`${subject.name.padEnd(14)}${cells.join('')}\n`);
  return more.every((time) => time <= BUDGET_MS);
}

async function subjects(caller: Caller): Promise<Subject[]> {
  let id = '';
  for (let count = 0; count < 50; count += 1) {
    const body = { name: `Fern ${count}`, location: 'Hall', species: 'Nephrolepis exaltata' };
    const plant = await caller.send({ method: 'POST', path: '/api/plants', body });
    ({ id } = JSON.parse(plant) as { id: string });
  }
  const events = `/api/plants/${id}/events`;
  for (let count = 0; count < 15; count += 1) {
    await caller.send({ method: 'POST', path: events, body: { text: 'A good soak' } });
  }
  const one = { id };
  return [
    { name: 'get_plant', method: 'GET', path: `/api/plants/${id}`, arguments: one },
    { name: 'list_plants', method: 'GET', path: '/api/plants', arguments: {} },
    { name: 'list_events', method: 'GET', path: events, arguments: one },
    {
      name: 'update_plant',
      method: 'PATCH',
      path: `/api/plants/${id}`,
      body: { location: 'Kitchen' },
      arguments: { ...one, location: 'Kitchen' },
    },
  ];
}

async function serve(program: Program): Promise<{ port: number; close: () => void }> {
  const server = createHttpServer(program.app.requestListener(), program.app.settings);
  const port = await listening(server);
  return { port, close: () => server.close() };
}

async function main(): Promise<void> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'plant-care-bench-'));
  const env = {
    ...process.env,
    RATE_LIMIT_PLANTS_CREATE_MAX: '1000000',
    RATE_LIMIT_WRITES_MAX: '1000000',
    RATE_LIMIT_READS_MAX: '1000000',
    DATA_DIR: dataDir,
    LOG_LEVEL: 'silent',
  };
  const program = await startProgram({ role: 'server', env, plugins: loadPlugins() });
  try {
    const { port, close } = await serve(program);
    const scopes = [...program.app.scopes.keys()];
    const accounts = program.app.exportsOf(accountsPlugin);
    const { token } = await accounts.tokens.createToken({
      userId: 'bench',
      tier: 'pro',
      scopes,
      name: 'bench',
      expiresInSeconds: 3600,
    });
    const caller = new Caller(port, token);
    const heads = ['REST', 'tool', '2026-07-28', '+ tool', '+ 2026'];
    process.stdout.write(`median of ${ROUNDS}, in ms; budget: ${BUDGET_MS} ms more than REST\n`);
    process.stdout.write(`${' '.repeat(14)}${heads.map((head) => head.padStart(10)).join('')}\n`);
    for (const subject of await subjects(caller)) {
      if (!(await measure(caller, subject))) process.exitCode = 1;
    }
    close();
  } finally {
    await program.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
  process.exit();
}

void main();
