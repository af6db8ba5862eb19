import { request } from 'node:http';

import { record, records } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { until as eventually } from '../../../test/support/processes';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';
import { letIn } from '../../../test/support/sharing';

let service: TestService;
let ada: TestUser;
let ben: TestUser;
let member: string;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  [ada, ben] = await Promise.all([service.user(), service.user()]);
  member = await letIn(ada, ben, { name: 'Ben', role: 'gardener' });
});
afterEach(resetClock);
afterAll(() => service.close());

interface Answer {
  status: number | undefined;
  body: Record<string, unknown>;
}

/** Sends a request whose body ends only after something else has happened. */
async function trickled(
  path: string,
  headers: object,
  body: object,
  meanwhile: () => Promise<unknown>,
): Promise<Answer> {
  const text = JSON.stringify(body);
  const sent = request(new URL(path, service.url), {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      ...headers,
    },
  });
  const answer = new Promise<Answer>((resolve, reject) => {
    sent.once('error', reject).once('response', (response) => {
      let received = '';
      response.on('data', (chunk: Buffer) => (received += chunk.toString()));
      response.on('end', () => {
        resolve({ status: response.statusCode, body: record(JSON.parse(received)) });
      });
    });
  });
  sent.write(text.slice(0, 1));
  await meanwhile();
  sent.end(text.slice(1));
  return answer;
}

async function isSeen(list: string, id: string, field: string): Promise<boolean> {
  const { items } = bodyOf(await (list.includes('members') ? ada : ben).get(list).expect(200));
  return records(items).some((each) => each['id'] === id && each[field] !== null);
}

const ENDS: Readonly<Record<string, () => Promise<unknown>>> = {
  'the owner ends the membership': async () =>
    ada.delete(`/api/account/members/${member}`).expect(200),
  'the member leaves': async () => ben.delete(`/api/gardens/${ada.id}`).expect(200),
  'the member leaves and is let in again': async () => {
    await ben.delete(`/api/gardens/${ada.id}`).expect(200);
    await letIn(ada, ben, { role: 'gardener' });
  },
  'its time passes': async () => {
    const until = Date.now() + 60_000;
    await ada.patch(`/api/account/members/${member}`, { until: new Date(until) }).expect(200);
    setClock(until);
  },
  'the owner makes the member a viewer': async () =>
    ada.patch(`/api/account/members/${member}`, { role: 'viewer' }).expect(200),
  'the owner deletes the account': async () =>
    ada.delete('/api/account').send({ confirm: ada.id }).expect(200),
};

describe.each(Object.entries(ENDS))('nothing is written in a garden after %s', (how, end) => {
  const isLowered = how.includes('viewer');

  test('by a request whose body was still on its way', async () => {
    const headers = { Authorization: `Bearer ${ben.token}`, Garden: ada.id };
    const { status, body } = await trickled('/api/plants', headers, { name: 'Ivy' }, async () => {
      await eventually(() => isSeen('/api/account/members', member, 'lastSeenAt'));
      await end();
    });
    const refused = isLowered ? [403, 'insufficient_scope'] : [404, 'garden_not_found'];
    expect([status, body['code']]).toEqual(refused);
  });

  test('by a tool call that was still on its way', async () => {
    const wanted = { name: 'Assistant', scopes: ['plants:read', 'plants:write'], garden: ada.id };
    const { id, token } = bodyOf(await ben.post('/api/account/tokens', wanted).expect(201));
    const call = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'create_plant', arguments: { name: 'Ivy' } },
    };
    const headers = { Authorization: `Bearer ${String(token)}`, Accept: 'application/json' };
    const { body } = await trickled('/api/mcp', headers, call, async () => {
      await eventually(() => isSeen('/api/account/tokens', String(id), 'lastUsedAt'));
      await end();
    });
    expect(body['result']).toMatchObject({ isError: true });
    expect(JSON.stringify(body)).toMatch(isLowered ? /needs the role/ : /garden_not_found/);
  });
});
