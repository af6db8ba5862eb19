import { execFileSync } from 'node:child_process';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

import { MIN_COMPRESSED } from '../../src/core/http/content';
import { DAY_MS } from '../../src/core/time';
import { record } from '../../test/support/client';
import { resetClock, setClock } from '../../test/support/clock';
import { send } from '../../test/support/raw';
import type { TestService } from '../../test/support/service';
import { bodyOf } from '../../test/support/shapes';
import { CONVENTIONS, startService } from '../../test/support/program';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

interface Document {
  info: { description: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: {
    headers: Record<string, object>;
    schemas: Record<string, { properties: Record<string, { enum: string[] }> }>;
  };
}

interface DocumentedOperation {
  operationId: string;
  tags: string[];
  description?: string;
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Response>;
}

interface Response {
  description: string;
  headers: Record<string, { $ref: string }>;
  content?: Record<string, Media>;
}

interface Media {
  schema: object;
  example?: unknown;
}

let document: Promise<Document> | undefined;

/** Fetched once, since it never changes. */
function openApi(): Promise<Document> {
  return (document ??= service.anonymous
    .get('/openapi.json')
    .expect(200)
    .then(({ body }) => body as Document));
}

test('the OpenAPI document is valid OpenAPI 3.1', async () => {
  // The validator is an ES module, which Jest does not load.
  const script = `import { readFileSync } from 'node:fs';
    import { Validator } from '@seriousme/openapi-schema-validator';
    const document = JSON.parse(readFileSync(0, 'utf8'));
    console.log(JSON.stringify(await new Validator().validate(document)));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    input: JSON.stringify(await openApi()),
    encoding: 'utf8',
  });
  expect(JSON.parse(output)).toEqual({ valid: true });
});

test('every operation is in the document', async () => {
  const { paths } = await openApi();
  for (const operation of service.app.operations) {
    expect(paths[operation.path]).toHaveProperty(operation.method.toLowerCase());
  }
  for (const { path, methods } of service.app.description.protocols) {
    for (const method of Object.keys(methods)) {
      expect(paths[path]).toHaveProperty(method.toLowerCase());
    }
  }
});

/** Every body in the document, by its place. */
async function bodies(): Promise<[place: string, media: Media][]> {
  const { paths } = await openApi();
  return Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, requestBody, responses }) =>
      [
        ...Object.values(requestBody?.content ?? {}).map((media) => ({ place: 'body', media })),
        ...Object.entries(responses).flatMap(([place, { content = {} }]) =>
          Object.values(content).map((media) => ({ place, media })),
        ),
      ].map(({ place, media }): [string, Media] => [`${operationId} ${place}`, media]),
    );
}

test('every body and every success response has an example that matches its schema', async () => {
  const { components } = await openApi();
  const ajv = addFormats(new Ajv2020({ strict: false }));
  const all = await bodies();
  expect(all.length).toBeGreaterThan(200);
  // Most responses share a few schemas.
  const compiled = new Map<string, ValidateFunction>();
  for (const [place, { schema, example }] of all) {
    const text = JSON.stringify(schema);
    const validate = compiled.get(text) ?? ajv.compile({ ...schema, components });
    compiled.set(text, validate);
    if (!/ (body|2..)$/.test(place)) continue;
    expect([place, validate(example), validate.errors]).toEqual([place, true, null]);
  }
});

test('the server accepts the example of each body, once it names existing records', async () => {
  const { paths } = await openApi();
  const user = await service.user();
  const account = await service.user();
  const guest = { name: 'Ben', role: 'viewer' };
  const { code } = record(
    bodyOf(await account.post('/api/account/members', guest).expect(201))['invitation'],
  );
  /** The ids of records that earlier examples have created, by kind. */
  const made = new Map<string, string>();
  for (const { method, path, body, response } of service.app.operations) {
    if (!body || method === 'GET') continue;
    // It would delete the account that the other requests use.
    if (method === 'DELETE') continue;
    const plant = await user.plant({ location: 'Living room', wateringFrequencyDays: 7 });
    // As large as the photo of the example.
    const photo = await user.photo({ width: 4000, height: 4000 });
    const event = await user.event(plant.id);
    const ids: Record<string, unknown> = {
      plantId: plant.id,
      plantIds: [plant.id],
      primaryPhotoId: photo.id,
      photoIds: [photo.id],
      eventIds: [event.id],
      code,
    };
    const example = paths[path]?.[method.toLowerCase()]?.requestBody?.content['application/json']
      ?.example as Record<string, unknown>;
    const sent = Object.fromEntries(
      Object.entries(example).map(([name, value]) => [name, ids[name] ?? value]),
    );
    const kind = /\/(\w+)s(?:\/\{id\}|$)/.exec(path)?.[1] ?? '';
    const id = { plant, photo, event, account }[kind]?.id ?? made.get(kind) ?? '';
    const verb = method.toLowerCase() as 'post' | 'put' | 'patch';
    const answer = await user[verb](path.replace('{id}', id).replace('{member}', user.id), sent);
    const status = method === 'PUT' && answer.status === 201 ? 201 : response.status;
    expect([path, answer.status, answer.body]).toEqual([path, status, answer.body]);
    const [, makes = kind] = /\/(\w+)s$/.exec(path) ?? [];
    made.set(makes, String((answer.body as { id?: string }).id));
  }
});

test('days in examples are in the future, whenever the document is requested', async () => {
  const exampleOf = async () => {
    const answer = await service.anonymous.get('/openapi.json').expect(200);
    const { paths } = answer.body as Document;
    const snooze = paths['/api/care/snooze']?.['post']?.requestBody?.content['application/json'];
    return String((snooze?.example as { until?: string } | undefined)?.until);
  };
  const until = await exampleOf();
  try {
    setClock(Date.now() + 400 * DAY_MS);
    expect((await exampleOf()) > until).toBe(true);
  } finally {
    resetClock();
  }
});

test('descriptions for REST clients name no tools and do not address an assistant', async () => {
  const { paths } = await openApi();
  const tools = service.app.operations.flatMap(({ tool }) => ('name' in tool ? tool.name : []));
  const texts = Object.entries(paths)
    .filter(([path]) => path !== '/api/mcp')
    .flatMap(([path, methods]) =>
      Object.values(methods).map(({ description = '' }) => `${path}: ${description}`),
    );
  const named = texts.filter((text) => tools.some((tool) => text.includes(tool)));
  expect(named).toEqual([]);
  expect(
    texts.filter((text) => /\b(ask the person|the person's|pass nextCursor)\b/.test(text)),
  ).toEqual([]);
});

test('for generated clients, lists have items of one type, and properties of bodies have no default', async () => {
  const { components, paths } = await openApi();
  const schemas = (await bodies()).map(([, { schema }]) => schema);
  const texts = [...schemas, ...Object.values(components.schemas)].map((each) =>
    JSON.stringify(each),
  );
  expect(texts.filter((text) => text.includes('"items":{"anyOf"'))).toEqual([]);
  const sent = Object.keys(components.schemas).filter((name) => name.endsWith('Body'));
  expect(sent.length).toBeGreaterThan(10);
  const defaulted = sent.filter((name) =>
    JSON.stringify(components.schemas[name]).includes('"default"'),
  );
  expect(defaulted).toEqual([]);
  expect(JSON.stringify(paths['/api/plants'])).not.toContain('PlantSummary');
});

test('the schema of POST /api/events requires either plantIds or location, not both', async () => {
  const { components } = await openApi();
  const ajv = addFormats(new Ajv2020({ strict: false }));
  const isValid = ajv.compile({ $ref: '#/components/schemas/LogCareBody', components });
  const plants = { plantIds: ['0198e4a2-7c1b-4d6e-9f3a-2b5c8d4e6f10'] };
  const place = { location: 'Hall' };
  expect([plants, place, {}, { ...plants, ...place }].map((body) => isValid(body))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('each resource is described only once', async () => {
  const { components, paths } = await openApi();
  expect(Object.keys(components.schemas)).toEqual(
    expect.arrayContaining([
      'Account',
      'Error',
      'Event',
      'EventPage',
      'Photo',
      'PhotoPage',
      'Plant',
    ]),
  );
  // A field that only photos have, and one that only events have.
  for (const field of ['imagehostPublicId', 'occurredAt']) {
    expect(JSON.stringify(paths)).not.toContain(`"${field}":{`);
  }
});

test('every operation has an operationId and a tag, and every tag has a description', async () => {
  const { paths, tags } = await openApi();
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  for (const operation of operations) {
    expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/);
    expect(tags.map(({ name }) => name)).toContain(operation.tags[0]);
  }
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
});

test('responses of the tool endpoint have the documented headers', async () => {
  const { paths } = await openApi();
  const user = await service.user();
  const declared = (status: number) =>
    Object.keys(paths['/api/mcp']?.['post']?.responses[status]?.headers ?? {});
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  for (const [status, body] of [
    [200, message],
    [200, { ...message, method: 'tools/call', params: { name: 'list_plants', arguments: {} } }],
    [202, { jsonrpc: '2.0', method: 'notifications/initialized' }],
    [400, []],
  ] as const) {
    const { headers } = await user
      .post('/api/mcp', body)
      .set('Accept', 'application/json, text/event-stream')
      .expect(status);
    expect(declared(status)).toContain('RateLimit');
    // Only calls that are repeated have it.
    const always = declared(status).filter((name) => name !== 'Idempotent-Replayed');
    for (const name of always) expect(headers).toHaveProperty(name.toLowerCase());
  }
});

test('responses have the documented headers', async () => {
  const { paths, components } = await openApi();
  const declared = paths['/api/plants']?.['get']?.responses['200']?.headers ?? {};
  const user = await service.user();
  const { headers } = await user.get('/api/plants').expect(200);
  expect(Object.keys(declared)).toContain('ETag');
  for (const name of Object.keys(declared)) {
    expect(headers).toHaveProperty(name.toLowerCase());
    expect(components.headers).toHaveProperty(name);
  }
  const refused = paths['/api/plants']?.['get']?.responses['401']?.headers ?? {};
  const anonymous = await service.anonymous.get('/api/plants').expect(401);
  for (const name of Object.keys(refused)) {
    expect(anonymous.headers).toHaveProperty(name.toLowerCase());
  }
});

test('the description begins with paging, retrying and limits', async () => {
  const { info } = await openApi();
  expect(info.description).toMatch(/^[^\n]+\n\n\*\*Paging[^]+\*\*Retrying[^]+\*\*Limits/);
});

function linksOf(page: string): string[] {
  return [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
}

test('behind a proxy that strips a path prefix, the links of the page and the document work', async () => {
  const prefix = 'https://example.com/plants/';
  /** Requests a URL as a browser would, through a proxy that strips the prefix. */
  const visit = (address: string) => {
    expect(address.startsWith(prefix)).toBe(true);
    return service.anonymous.get(address.slice(prefix.length - 1));
  };
  const at = (link: string, from: string) => new URL(link, from).href;
  const page = await visit(`${prefix}docs`).expect(200);
  const files = linksOf(page.text).map((link) => at(link, `${prefix}docs`));
  for (const file of files) await visit(file).expect(200);
  const start = await visit(`${prefix}docs/start.js`).expect(200);
  const [, link = ''] = /url: '([^']+)'/.exec(start.text) ?? [];
  await visit(at(link, `${prefix}docs`)).expect(200);
  const [, server = ''] = /servers: \[\{ url: new URL\('([^']+)'/.exec(start.text) ?? [];
  await visit(at(server, `${prefix}docs`).replace(/\/$/, '') + '/api/plants').expect(401);
});

test('the page shows the resources first, then the rules for all requests', async () => {
  const { text } = await service.anonymous.get('/docs').expect(200);
  expect(text.indexOf('id="docs"')).toBeLessThan(text.indexOf('id="rules"'));
  for (const { topic } of CONVENTIONS) expect(text).toContain(`<dt>${topic}</dt>`);
  expect(text).not.toContain('`');
  const guide = await service.anonymous.get('/docs/guide.md').expect(200);
  expect(guide.headers['content-type']).toMatch(/^text\/markdown/);
});

test('the document says how to get a token, and has no broken links', async () => {
  const { components, info } = (await openApi()) as unknown as {
    components: { securitySchemes: { token: { description: string } } };
    info: object;
  };
  expect(components.securitySchemes.token.description).toMatch(/\(settings\).*token create --user/);
  expect(info).not.toHaveProperty('license');
});

test('the server in the document is PUBLIC_URL, or the origin of the document', async () => {
  expect((await openApi()).servers).toEqual([{ url: '/' }]);
  const env = { PUBLIC_URL: 'https://plants.example' };
  const own = await startService({ env });
  const answer = await own.anonymous.get('/openapi.json').expect(200);
  expect((answer.body as Document).servers).toEqual([{ url: env.PUBLIC_URL }]);
  await own.close();
});

test('the page loads only files of the service itself', async () => {
  const page = await service.anonymous.get('/docs').expect(200);
  expect(page.headers['content-type']).toMatch(/^text\/html/);
  const policy = (page.headers['content-security-policy'] ?? '').split('; ');
  expect(policy).toEqual(
    expect.arrayContaining([
      "default-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]),
  );
  const files = linksOf(page.text);
  expect(files).toHaveLength(3);
  for (const file of files) await service.anonymous.get(`/${file}`).expect(200);
  await service.anonymous.get('/docs/package.json').expect(404);
});

describe.each(['/openapi.json', '/docs', '/docs/start.js', '/docs/swagger-ui-bundle.js'])(
  '%s',
  (path) => {
    const get = (headers: Record<string, string>) => send(service.url, 'GET', path, { headers });

    test.each([
      ['br', 'gzip, deflate, br', brotliDecompressSync],
      ['gzip', 'gzip', gunzipSync],
    ])('is sent as %s if the client accepts %s', async (coding, accepted, decompress) => {
      const plain = await get({});
      const answer = await get({ 'Accept-Encoding': accepted });
      if (plain.bytes.length < MIN_COMPRESSED) {
        expect(answer.bytes.equals(plain.bytes)).toBe(true);
        return;
      }
      expect(answer.headers['content-encoding']).toBe(coding);
      expect(answer.headers['content-length']).toBe(String(answer.bytes.length));
      expect(decompress(answer.bytes).equals(plain.bytes)).toBe(true);
    });

    test('is sent uncompressed, with its length, if the client accepts no encoding', async () => {
      for (const headers of [{}, { 'Accept-Encoding': 'br;q=0, identity' }]) {
        const answer = await get(headers);
        expect(answer.headers).not.toHaveProperty('content-encoding');
        expect(answer.headers['content-length']).toBe(String(answer.bytes.length));
        expect(answer.headers.vary).toContain('Accept-Encoding');
      }
    });

    test('is 304 if the client already has it', async () => {
      const headers = { 'Accept-Encoding': 'br' };
      const { etag = '' } = (await get(headers)).headers;
      // As browsers and Node's fetch send it.
      const asked = {
        ...headers,
        'If-None-Match': `"other", ${etag}`,
        'Cache-Control': 'no-cache',
      };
      const answer = await get(asked);
      expect([answer.status, answer.body, answer.headers.etag]).toEqual([304, '', etag]);
      expect((await get({ 'If-None-Match': '"other"' })).status).toBe(200);
    });
  },
);

test('the document has exactly the error codes that are declared', async () => {
  const { components } = await openApi();
  const codes = service.app.description.errors.map(({ code }) => code);
  expect(components.schemas['Error']?.properties['code']?.enum).toEqual(codes);
  expect(codes).toEqual(expect.arrayContaining(['not_found', 'method_not_allowed']));
});

test.each([
  ['POST', '/api/photos', 400, /`plant_not_found`/],
  ['GET', '/api/mcp', 405, /`method_not_allowed`: There is no event stream/],
  ['POST', '/api/mcp', 200, /JSON-RPC error/],
  ['POST', '/api/mcp', 202, /notification/],
  ['POST', '/api/mcp', 400, /not JSON/],
  ['POST', '/api/mcp', 403, /`invalid_token`[^]*`origin_not_allowed`/],
  ['POST', '/api/mcp', 404, /does not exist/],
  ['POST', '/api/mcp', 429, /`rate_limited`/],
  ['GET', '/docs/{file}', 404, /`not_found`/],
])('%s %s may respond with %i, and the document says why', async (method, path, status, reason) => {
  const { paths } = await openApi();
  const declared = paths[path]?.[method.toLowerCase()]?.responses ?? {};
  expect(declared[status]?.description).toMatch(reason);
});

test('the document says which messages to the tool endpoint count as reads', async () => {
  const { paths } = await openApi();
  expect(paths['/api/mcp']?.['post']?.description).toContain('one of the reads of the account');
});

test('a URL has the format uri in requests and responses', async () => {
  const { schemas } = (await openApi()).components;
  for (const name of ['CreatePhotoBody', 'Photo']) {
    expect(schemas[name]?.properties['secureUrl']).toMatchObject({ format: 'uri' });
  }
});
