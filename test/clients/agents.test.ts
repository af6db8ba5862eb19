import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { startService } from '../support/program';
import type { TestService, TestUser } from '../support/service';
import { answerOf, pythonWith } from './python';

/** The bridge for programs that start local servers; `make test-clients` installs it. */
const MCP_REMOTE = path.join(__dirname, 'node_modules/mcp-remote/dist/proxy.js');

const PLANT = {
  name: 'Monstera',
  species: 'Monstera deliciosa',
  location: 'Hall',
  notes: 'A gift',
  wateringFrequencyDays: 7,
};

interface Answer {
  isError: boolean;
  text: string;
}

describe('agents call the tools through', () => {
  let folder: string;
  let service: TestService;
  let user: TestUser;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'agents-'));
    service = await startService();
  });
  beforeEach(async () => {
    user = await service.user();
  });
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The output of a script that runs with packages of its own. */
  async function python(script: string, packages: string[], ...args: string[]): Promise<unknown> {
    return answerOf(await pythonWith(folder, packages), script, ...args);
  }

  /** Calls that a model makes about a plant, with arguments as a model chooses them. */
  function callsOf(id: string): string {
    const calls = [
      ['update_plant', { id, name: 'Monty' }],
      ['log_care', { plantIds: [id], type: 'note', text: 'A new leaf' }],
      ['search_events', { plantId: id }],
      ['list_plants', {}],
    ];
    return JSON.stringify(calls);
  }

  /** Expects that each call succeeded, and that the plant lost no data. */
  async function expectDone(id: string, answers: Answer[]): Promise<void> {
    expect(answers.map(({ isError, text }) => [isError, isError && text])).toEqual(
      answers.map(() => [false, false]),
    );
    const plant = await user.get(`/api/plants/${id}`).expect(200);
    expect(plant.body).toMatchObject({ ...PLANT, name: 'Monty' });
    expect(answers.at(-1)?.text).toContain('Monty');
  }

  test("mcpadapt, CrewAI's adapter, which sends null for omitted arguments", async () => {
    const { id } = await user.plant(PLANT);
    const packages = ['mcpadapt==0.1.19', 'mcp<2'];
    const url = `${service.url}/api/mcp`;
    const answers = await python('adapter.py', packages, url, user.token, callsOf(id));
    await expectDone(id, answers as Answer[]);
  });

  test('fastmcp, at an address with a trailing slash, which shows why a token is refused', async () => {
    const { id } = await user.plant(PLANT);
    const fastmcp = (token: string): Promise<unknown> => {
      const url = `${service.url}/api/mcp/`;
      return python('fastmcp_client.py', ['fastmcp==4.2.3'], url, token, callsOf(id));
    };
    await expectDone(id, (await fastmcp(user.token)) as Answer[]);
    expect(await fastmcp('nonsense')).toEqual({
      refused: 'The token is malformed, unknown, revoked or expired.',
    });
  });

  test('mcp-remote, for programs that start local servers', async () => {
    const { id } = await user.plant(PLANT);
    const header = ['--header', `Authorization: Bearer ${user.token}`];
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [MCP_REMOTE, `${service.url}/api/mcp`, '--allow-http', ...header],
        env: { PATH: process.env['PATH'] ?? '', HOME: folder },
        stderr: 'ignore',
      }),
    );
    try {
      const answers: Answer[] = [];
      for (const [name, given] of JSON.parse(callsOf(id)) as [string, Record<string, unknown>][]) {
        const { isError, content } = await client.callTool({ name, arguments: given });
        answers.push({ isError: isError === true, text: JSON.stringify(content) });
      }
      await expectDone(id, answers);
    } finally {
      await client.close();
    }
  });
});
