import { gzipSync } from 'node:zlib';

import accountsPlugin from '../../plugins/accounts';
import { MAX_BODY_KIB } from '../../src/core/http/request-limits';
import { operationName } from '../../src/plugins/operation-facts';
import {
  fieldsOf,
  idOfEveryKind,
  OPERATIONS,
  PROTOCOLS,
  toolRows,
  validRequest,
} from '../support/operations';
import { keptConnections, send } from '../support/raw';
import {
  asOperator,
  dataDirectory,
  RealServer,
  removeDataDirectory,
  tokensOf,
} from '../support/real-server';
import { NOBODYS_ID } from '../support/shapes';
import { worstBodies, worstTables, WORST_TEXTS } from '../support/worst-bodies';

let dataDir: string;
let server: RealServer;
let token: string;
let backend: string;

beforeAll(async () => {
  dataDir = await dataDirectory();
  // Each request has an address of its own, so that no budget of addresses ends.
  server = await RealServer.start(dataDir, { SIGN_UP: 'open', TRUST_PROXY: '1' });
  [token = ''] = await tokensOf(dataDir, ['ada']);
  const wanted = {
    userId: '~shop',
    scopes: ['accounts:manage'],
    name: 'x',
    expiresInSeconds: 7200,
  };
  ({ token: backend } = await asOperator(dataDir, (app) =>
    app.exportsOf(accountsPlugin).tokens.createToken(wanted),
  ));
});
afterAll(async () => {
  await server.stop();
  await removeDataDirectory(dataDir);
});

interface Request {
  method: string;
  path: string;
  /** By default JSON. */
  type?: string;
  body?: string;
  /** Whether the body is sent as it is, since not every endpoint inflates one. */
  isPlain?: boolean;
  headers?: Record<string, string>;
}

type Labelled = readonly [label: string, request: Request];

/** How long a probe may wait. */
const MAX_WAIT_MS = 200;
/** On a machine that is busy with something else some probes wait longer, but not each time. */
const TRIES = 5;

let addresses = 0;
/** An address of its own, so that no budget of addresses ends. */
function fromNextAddress(): Record<string, string> {
  addresses += 1;
  const [high, middle, low] = [addresses >> 16, (addresses >> 8) & 255, addresses & 255];
  return { 'X-Forwarded-For': `10.${high}.${middle}.${low}` };
}

/** Sends a request; returns its status, and the longest time that a probe waits meanwhile. */
async function during(request: Request): Promise<{ status: number; wait: number }> {
  const { method, path, type = 'application/json', body, isPlain = false, headers } = request;
  const sent = body === undefined || isPlain ? body : gzipSync(body, { level: 1 });
  const state = { isServed: false };
  const answered = send(server.url, method, path, {
    headers: {
      Authorization: `Bearer ${path.startsWith('/api/accounts') ? backend : token}`,
      ...(sent !== undefined && {
        'Content-Type': type,
        'Content-Length': String(Buffer.byteLength(sent)),
        ...(!isPlain && { 'Content-Encoding': 'gzip' }),
      }),
      ...fromNextAddress(),
      ...headers,
    },
    ...(sent !== undefined && { body: sent }),
  }).finally(() => {
    state.isServed = true;
  });
  let wait = 0;
  do {
    const begun = performance.now();
    const probe = { headers: fromNextAddress(), agent: keptConnections };
    await send(server.url, 'GET', '/healthz', probe);
    wait = Math.max(wait, performance.now() - begun);
  } while (!state.isServed);
  return { status: (await answered).status, wait: Math.round(wait) };
}

/** Requests that keep probes waiting each time, or fail. */
async function harmful(requests: Iterable<Labelled>): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const [label, request] of requests) {
    const tries = [await during(request)];
    const isHarmful = ({ status, wait }: { status: number; wait: number }): boolean =>
      status >= 500 || wait > MAX_WAIT_MS;
    while (tries.length < TRIES && tries.every(isHarmful)) tries.push(await during(request));
    if (tries.every(isHarmful)) found.push([label, ...tries]);
  }
  return found;
}

const ids = {
  ...idOfEveryKind(NOBODYS_ID),
  account: 'nobody',
  token: NOBODYS_ID,
  webhook: NOBODYS_ID,
  garden: 'nobody',
  delivery: NOBODYS_ID,
};
const withBody = OPERATIONS.filter(({ method }) => method !== 'GET').map(
  (operation) => [operationName(operation), operation] as const,
);

/** For the rest of a body. */
const ROOM = 1000;
const BYTES = MAX_BODY_KIB * 1024 - ROOM;

test.each(withBody)('the worst bodies of %s keep nobody waiting', async (_name, operation) => {
  const { method, path, body = {} } = validRequest(operation, ids);
  const bytes = operation.large ? operation.large.maxKib * 1024 - ROOM : BYTES;
  const bodies = worstBodies(operation.body, body, bytes);
  const requests = bodies.map(([label, json]): Labelled => [label, { method, path, body: json }]);
  expect(await harmful(requests)).toEqual([]);
});

test.each(withBody.filter(([, { large }]) => large))(
  'the worst tables of %s keep nobody waiting',
  async (_name, operation) => {
    const { method, path } = validRequest(operation, ids);
    const { type = '', field = '' } = operation.large?.text ?? {};
    const to = { method, path: `${path}?dryRun=true` };
    const bytes = (operation.large?.maxKib ?? 0) * 1024 - ROOM;
    const requests = worstTables(bytes).flatMap(([label, text]): Labelled[] => [
      [label, { ...to, type, body: text }],
      [`${label}, in JSON`, { ...to, body: JSON.stringify({ [field]: text }) }],
    ]);
    expect(await harmful(requests)).toEqual([]);
  },
);

test.each(toolRows())('the worst arguments of %s keep nobody waiting', async (name, operation) => {
  const { toolArguments } = validRequest(operation, ids);
  const bodies = worstBodies(operation.body, toolArguments, BYTES);
  const requests = bodies.map(([label, json]): Labelled => {
    const params = `{"name":"${name}","arguments":${json}}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
    return [label, { method: 'POST', path: '/api/mcp', body }];
  });
  expect(await harmful(requests)).toEqual([]);
});

const CLIENT = '"redirect_uris":["https://app.example/cb"]';
const CALL = '"jsonrpc":"2.0","id":1,"method"';
/** Bodies of protocols around any value. */
const AROUND: readonly ((json: string) => string)[] = [
  (json) => json,
  (json) => `{"redirect_uris":${json}}`,
  (json) => `{"redirect_uris":[${json}]}`,
  (json) => `{"jwks":{"keys":[${json}]},${CLIENT}}`,
  (json) => `{"client_name":${json},${CLIENT}}`,
  (json) => `{${CALL}:${json}}`,
  (json) => `{${CALL}:"tools/list","params":{"_meta":${json}}}`,
  (json) => `{${CALL}:"initialize","params":{"capabilities":${json}}}`,
];

const FORM_FIELDS = ['client_id', 'client_assertion', 'grant_type', 'code', 'token', 'scope'];
const FORM_PARTS = ['a=1&', 'a&', '&', '=', 'a[]=1&', 'a[b][c][d]=1&', '%', '[', 'scope=a&'];
/** The longest form of our pages. */
const FORM_BYTES = 16_000;

/** The worst forms of a page, with the fields that it has. */
function worstForms(page: string): (readonly [label: string, form: string])[] {
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const own = [...page.matchAll(/ name="(\w+)"/g)].map(([, name = '']) => name);
  const names = [...new Set([...own, ...FORM_FIELDS])].filter((name) => name !== 'csrf');
  const others = Object.fromEntries(own.map((name) => [name, 'a']));
  return [
    ...FORM_PARTS.map(
      (part) => [part, `csrf=${csrf}&${part.repeat(FORM_BYTES / part.length)}`] as const,
    ),
    ...names.flatMap((name) =>
      WORST_TEXTS.map(([label, text]) => {
        const form = new URLSearchParams({ ...others, csrf, [name]: text(FORM_BYTES / 6) });
        return [`${name}: ${label}`, form.toString()] as const;
      }),
    ),
  ];
}

const posts = PROTOCOLS.filter(({ methods }) => methods.POST).map(({ path }) => path);

test.each(posts)('the worst bodies of POST %s keep nobody waiting', async (given) => {
  const path = given.replace('{uid}', 'x');
  const page = await send(server.url, 'GET', path, { headers: fromNextAddress() });
  const cookies = page.headers['set-cookie'] ?? [];
  const Cookie = cookies.map((each) => each.split(';', 1)[0]).join('; ');
  const to = { method: 'POST', path, isPlain: true, headers: { Cookie } };
  const type = 'application/x-www-form-urlencoded';
  const requests = [
    ...worstForms(page.body).map(([label, body]): Labelled => [label, { ...to, type, body }]),
    // The library of OAuth takes 56 KiB.
    ...[55 * 1024, BYTES].flatMap((bytes) =>
      worstBodies(undefined, {}, bytes).flatMap(([label, json]) =>
        AROUND.map((around): Labelled => [label, { ...to, body: around(json) }]),
      ),
    ),
  ];
  expect(await harmful(requests)).toEqual([]);
});

/** The longest header or query, within Node's limit for all of them. */
const HEADER_BYTES = 14_000;
const HEADERS = [
  'Accept',
  'Accept-Encoding',
  'Accept-Language',
  'Authorization',
  'Content-Type',
  'Cookie',
  'Host',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Origin',
  'User-Agent',
  'X-Forwarded-For',
  'X-Request-Id',
];
const HEADER_PARTS = [
  'a',
  ' ',
  ',',
  ';',
  '"',
  '=',
  '"a",',
  '*/*;q=0.1,',
  'a=b;',
  'en-',
  '::',
  'a/',
];
const QUERY_PARTS = ['a&', 'a=1&', '&', '=', '%', '%41', 'a[]=1&'];

/** A request of every operation and of every other endpoint. */
const requestRows = [
  ...OPERATIONS.map((operation) => ({
    name: operationName(operation),
    method: operation.method,
    path: validRequest(operation, ids).path.split('?', 1)[0] ?? '',
    fields: fieldsOf(operation.query).map(({ name }) => name),
  })),
  ...PROTOCOLS.flatMap(({ path, methods }) =>
    Object.keys(methods).map((method) => ({
      name: operationName({ method, path }),
      method,
      path: path.replace('{uid}', 'x'),
      fields: ['client_id', 'redirect_uri', 'scope', 'return'],
    })),
  ),
].map(({ name, fields, ...to }) => {
  const body = to.method === 'GET' ? {} : { body: '{}' };
  return [name, { ...to, ...body, isPlain: true }, fields] as const;
});

test.each(requestRows)('the worst headers of %s keep nobody waiting', async (_name, to) => {
  const requests = HEADERS.flatMap((header) =>
    HEADER_PARTS.map((part): Labelled => {
      const headers = { [header]: part.repeat(HEADER_BYTES / part.length) };
      return [`${header}: ${part}`, { ...to, headers }];
    }),
  );
  expect(await harmful(requests)).toEqual([]);
});

test.each(requestRows)('the worst queries of %s keep nobody waiting', async (_name, to, fields) => {
  const long = fields.flatMap((name) =>
    WORST_TEXTS.map(([label, text]) => {
      const value = encodeURIComponent(text(HEADER_BYTES / 6));
      return [`${name}: ${label}`, `${name}=${value}`] as const;
    }),
  );
  const many = QUERY_PARTS.map((part) => [part, part.repeat(HEADER_BYTES / part.length)] as const);
  const requests = [...long, ...many].map(([label, query]): Labelled => [
    label,
    { ...to, path: `${to.path}?${query}` },
  ]);
  expect(await harmful(requests)).toEqual([]);
});
