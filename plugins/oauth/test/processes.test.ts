import { createServer, request, type Server } from 'node:http';

import supertest from 'supertest';

import { listening } from '../../../test/support/listening';
import { startService } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';
import { person } from './support/people';
import { Phone, type Tokens } from './support/phone';

let one: TestService;
let other: TestService;
let balancer: Server;
/** Both processes at one origin, which answer in turn. */
let both: TestService;

beforeAll(async () => {
  one = await startService();
  other = await startService({ mongodbUri: one.mongodbUri });
  const urls = [one.url, other.url];
  let turn = 0;
  balancer = createServer((incoming, outgoing) => {
    turn += 1;
    const target = new URL(incoming.url ?? '', urls[turn % 2]);
    const { method, headers } = incoming;
    const sent = request(target, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    incoming.pipe(sent);
  });
  const url = `http://127.0.0.1:${await listening(balancer)}`;
  both = { ...one, url, anonymous: supertest(url) };
});
afterAll(async () => {
  balancer.closeAllConnections();
  balancer.close();
  await other.close();
  await one.close();
});

const register = async (): Promise<Phone> => Phone.register(both, await person(both));

/** The status of a request with an access token, at each process. */
async function statuses({ access_token: token }: Tokens): Promise<number[]> {
  const answers = [one, other].map(({ anonymous }) =>
    anonymous.get('/api/plants').set('Authorization', `Bearer ${token}`),
  );
  return (await Promise.all(answers)).map(({ status }) => status);
}

const tokensOf = (answer: supertest.Response) => bodyOf(answer) as unknown as Tokens;

test('an app is authorized and refreshes its tokens, whichever process answers', async () => {
  const phone = await register();
  const first = await phone.tokens();
  expect(await statuses(first)).toEqual([200, 200]);
  const atOnce = await Promise.all(
    [1, 2].map(() => phone.refresh(first.refresh_token).expect(200)),
  );
  const [used, lost] = atOnce.map(tokensOf) as [Tokens, Tokens];
  expect(await Promise.all([used, lost].map(statuses))).toEqual([
    [200, 200],
    [200, 200],
  ]);
  const next = tokensOf(await phone.refresh(used.refresh_token).expect(200));
  expect(await Promise.all([used, lost, next].map(statuses))).toEqual([
    [200, 200],
    [401, 401],
    [200, 200],
  ]);
  await phone.refresh(lost.refresh_token).expect(400);
  expect(await statuses(next)).toEqual([401, 401]);
});

test('a code that is sent to two processes at once leaves no valid token', async () => {
  const phone = await register();
  const code = await phone.code();
  const answers = await Promise.all([1, 2].map(() => phone.exchange(code)));
  const given = answers.filter(({ status }) => status === 200);
  expect(given.length).toBeLessThan(2);
  for (const answer of given) expect(await statuses(tokensOf(answer))).toEqual([401, 401]);
});

test('a token that one process revokes is refused by the other from the next request on', async () => {
  const phone = await register();
  const tokens = await phone.tokens();
  expect(await statuses(tokens)).toEqual([200, 200]);
  const revocation = { client_id: phone.clientId, token: tokens.refresh_token };
  await one.anonymous.post('/oauth/revoke').type('form').send(revocation).expect(200);
  expect(await statuses(tokens)).toEqual([401, 401]);
});
