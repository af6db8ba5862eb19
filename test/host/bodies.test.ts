import { connect } from 'node:net';
import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';

import { errorOf, exchange, type RawAnswer, send } from '../support/raw';
import type { TestService, TestUser } from '../support/service';
import { expectError, faultsOf } from '../support/shapes';
import { startService } from '../support/program';

/** The limit for bodies: 100 KiB. */
const LIMIT = 102_400;

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
  user = await service.user();
});
afterAll(() => service.close());

interface Sent {
  type?: string | undefined;
  encoding?: string;
  chunked?: boolean;
}

function post(body: string | Buffer, { type = 'application/json', encoding, chunked }: Sent = {}) {
  return send(service.url, 'POST', '/api/plants', {
    headers: {
      Authorization: `Bearer ${user.token}`,
      ...(type === '' ? {} : { 'Content-Type': type }),
      ...(encoding === undefined ? {} : { 'Content-Encoding': encoding }),
      ...(chunked
        ? { 'Transfer-Encoding': 'chunked' }
        : { 'Content-Length': String(Buffer.byteLength(body)) }),
    },
    body,
  });
}

function expectRefusal(answer: RawAnswer, status: number, code: string, error?: string): void {
  expect([answer.status, errorOf(answer)]).toEqual([
    status,
    { code, error: error ?? (expect.any(String) as string) },
  ]);
  expect(answer.headers['x-request-id']).toBeDefined();
}

/** A valid body, padded with white space to a length in bytes. */
function padded(bytes: number): string {
  return '{"name":"Fern"}'.padEnd(bytes, ' ');
}

describe('JSON', () => {
  test.each([
    ['cut short', '{"name":"Fern"'],
    ['of single quotes', "{'name':'Fern'}"],
    ['with a comment', '{"name":"Fern"} // a fern'],
    ['with a trailing comma', '{"name":"Fern",}'],
    ['with a bare NaN', '{"name":NaN}'],
    ['followed by more', '{"name":"Fern"}{}'],
    ['that is a word', 'fern'],
    ['of white space only', '  '],
  ])('%s gets 400', async (_, body) => {
    expectRefusal(await post(body), 400, 'invalid_json', 'The request body is not valid JSON.');
  });

  test.each([['[]'], ['[{"name":"Fern"}]'], ['"name"'], ['7'], ['true'], ['null']])(
    'that is not an object, %s, gets 400',
    async (body) => {
      const message = 'The request body must be a JSON object.';
      expectRefusal(await post(body), 400, 'invalid_json', message);
    },
  );

  test.each([[false], [true]])('an empty body (chunked: %s) gets 400', async (chunked) => {
    const message = 'The request body is empty; it must be a JSON object.';
    expectRefusal(await post('', { chunked }), 400, 'invalid_json', message);
  });

  test('a missing body without a type gets 400', async () => {
    const answer = await user.post('/api/plants').send(undefined).set('Content-Type', '');
    expect(answer.status).toBe(400);
  });

  test.each([
    ['__proto__', '{"name":"Fern","__proto__":{"toxic":true}}'],
    ['__proto__', '{"name":"Fern","__proto__":null}'],
    ['__proto__', '{"name":"Fern","\\u005f_proto__":{}}'],
    ['notes.a.0.__proto__', '{"name":"Fern","notes":{"a":[{"__proto__":{}}]}}'],
    ['constructor', '{"name":"Fern","constructor":1}'],
    ['notes.constructor', '{"name":"Fern","notes":{"constructor":{"prototype":{}}}}'],
    ['constructor', '{"name":"Fern","constructor":{"prototype":{"toxic":true}}}'],
    ['hasOwnProperty', '{"name":"Fern","hasOwnProperty":1}'],
    ['toString', '{"name":"Fern","toString":1}'],
  ])('with the key %s gets 400 that names it: %s', async (key, body) => {
    const answer = await post(body);
    expectRefusal(answer, 400, 'validation_error');
    expect(errorOf(answer).error).toMatch(new RegExp(`^${key} is not allowed\\b`));
    expect(({} as { toxic?: boolean }).toxic).toBeUndefined();
  });

  test.each([
    ['a number outside double range', '{"name":"Fern","wateringFrequencyDays":1e400}'],
    ['a negative number outside double range', '{"name":"Fern","wateringFrequencyDays":-1e400}'],
    [
      'objects nested fifteen thousand deep',
      `{"name":${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}}`,
    ],
    ['lists nested forty thousand deep', `{"name":${'['.repeat(40_000)}${']'.repeat(40_000)}}`],
    ['a key of ninety thousand characters', `{"name":"Fern","${'k'.repeat(90_000)}":1}`],
  ])('with %s gets 400 with a short message', async (_, body) => {
    const answer = await post(body);
    expectRefusal(answer, 400, 'validation_error');
    expect(answer.body.length).toBeLessThan(500);
  });

  test('nested deeper than 32 levels gets 400; up to that it is accepted', async () => {
    const body = (levels: number) =>
      `{"name":${'['.repeat(levels - 1)}"[[{{"${']'.repeat(levels - 1)}}`;
    const message = 'The request body must not be nested deeper than 32 levels.';
    expectRefusal(await post(body(33)), 400, 'validation_error', message);
    expectRefusal(await post(body(32)), 400, 'validation_error', 'name must be a string.');
    // A string ends at the first quote with an even number of backslashes before it.
    for (const before of ['\\"', '\\\\\\"', '\\\\']) {
      expect((await post(`{"name":"${before}${'[{'.repeat(40)}"}`)).status).toBe(201);
    }
    const after = await post(`{"name":"\\\\","notes":${'['.repeat(32)}${']'.repeat(32)}}`);
    expectRefusal(after, 400, 'validation_error', message);
  });

  test('counts unknown fields one by one, even if they look alike', async () => {
    const long = 'a'.repeat(100);
    for (const [one, other] of [
      [`${long}1`, `${long}2`],
      ['\\ud800', '\\udc00'],
    ]) {
      const { body } = await post(`{"name":"Fern","${one}":1,"${other}":1}`);
      expect(JSON.parse(body)).toMatchObject({
        error: expect.stringMatching(/ is not allowed \(and 1 more fault\)\.$/) as string,
        details: [{}, {}],
      });
    }
  });

  test('names the unknown field', async () => {
    const message = 'colour is not allowed.';
    expectRefusal(await post('{"name":"Fern","colour":1}'), 400, 'validation_error', message);
  });
});

describe('text', () => {
  test.each([
    ['a lone continuation byte', [0x80]],
    ['a cut sequence', [0xc3]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
    ['UTF-16', [0xff, 0xfe]],
  ])('that is not UTF-8, with %s, gets 400', async (_, bytes) => {
    const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')]);
    expectRefusal(await post(body), 400, 'invalid_json', 'The request body is not valid UTF-8.');
  });

  test('may begin with a byte order mark', async () => {
    expect((await post('\ufeff{"name":"Fern"}')).status).toBe(201);
  });

  test('is returned as it was sent, in any script', async () => {
    const name = ' Büro–Monstera 🌿 龟背竹 é e\u0301 \u202e ';
    const answer = await post(JSON.stringify({ name }));
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.body)).toMatchObject({ name });
  });
});

describe('the structure', () => {
  const deep = (levels: number): string => `{"name":${'['.repeat(levels)}${']'.repeat(levels)}}`;

  test.each(['/api/plants', '/api/import', '/api/mcp', '/oauth/register'])(
    'that is 27,000 levels deep gets 400 at %s',
    async (path) => {
      for (const levels of [32, 27_000]) {
        const answer = await service.anonymous
          .post(path)
          .auth(user.token, { type: 'bearer' })
          .type('json')
          .send(deep(levels));
        expect([answer.status, answer.text]).toEqual([
          400,
          expect.stringMatching(/32 levels|parse/),
        ]);
      }
    },
  );

  test('of 31 levels in a field is that of an invalid field', async () => {
    const answer = await post(deep(31));
    expectRefusal(answer, 400, 'validation_error', 'name must be a string.');
  });

  test('with an object of more than 100 fields gets 400, however they are written', async () => {
    const object = (count: number): string =>
      `{${Array.from({ length: count }, (_, at) => `"\\":{${at}" : [":", {"a":1}]`).join(' , ')}}`;
    const message = 'The request body must not have an object of more than 100 fields.';
    expectRefusal(await post(object(101)), 400, 'validation_error', message);
    expectRefusal(await post(`{"a":[${object(101)}]}`), 400, 'validation_error', message);
    expect(faultsOf({ body: JSON.parse((await post(object(100))).body) as unknown })).toHaveLength(
      20,
    );
  });

  test('of more than 200,000 values gets 400', async () => {
    const photos = (count: number) =>
      service.anonymous
        .post('/api/import')
        .auth(user.token, { type: 'bearer' })
        .type('json')
        .send(`{"photos":[${'0,'.repeat(count)}0],"plants":[]}`);
    const message = 'The request body must not have more than 200,000 values.';
    expectError(await photos(200_000), 400, 'validation_error', message);
    const counted = /^photos\[0\] must be of type object \(and 999 more faults\)\.$/;
    expectError(await photos(190_000), 400, 'validation_error', counted);
  });
});

describe('the media type', () => {
  test.each([
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'Application/JSON',
  ])('%s is accepted', async (type) => {
    expect((await post('{"name":"Fern"}', { type })).status).toBe(201);
  });

  test.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'json',
    '',
  ])('"%s" gets 415', async (type) => {
    expectRefusal(await post('{"name":"Fern"}', { type }), 415, 'unsupported_media_type');
  });
});

describe('the size', () => {
  test.each([[false], [true]])('of 100 KiB is accepted (chunked: %s)', async (chunked) => {
    expect((await post(padded(LIMIT), { chunked })).status).toBe(201);
  });

  test.each([[false], [true]])('of one byte more gets 413 (chunked: %s)', async (chunked) => {
    const answer = await post(padded(LIMIT + 1), { chunked });
    expectRefusal(answer, 413, 'payload_too_large', 'The request body is larger than 100 KiB.');
  });

  test('that is only announced gets 413 before the body arrives', async () => {
    const answer = await exchange(
      service.url,
      'POST /api/plants HTTP/1.1\r\nHost: x\r\nConnection: close\r\n' +
        `Authorization: Bearer ${user.token}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${LIMIT + 1}\r\n\r\n`,
    );
    expectRefusal(answer, 413, 'payload_too_large');
  });
});

describe('a compressed body', () => {
  test.each([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['identity', (body: string) => Buffer.from(body)],
  ])('with %s is accepted', async (encoding, compress) => {
    expect((await post(compress('{"name":"Fern"}'), { encoding })).status).toBe(201);
  });

  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('may inflate to the usual limit, with %s', async (encoding, compress) => {
    expect((await post(compress(padded(LIMIT)), { encoding })).status).toBe(201);
    const answer = await post(compress(padded(LIMIT + 1)), { encoding });
    expectRefusal(answer, 413, 'payload_too_large');
  });

  test.each([
    ['corrupt', 'gzip', Buffer.from('{"name":"Fern"}')],
    ['cut short', 'gzip', gzipSync('{"name":"Fern"}').subarray(0, -10)],
    ['cut within its checksum', 'gzip', gzipSync('{"name":"Fern"}').subarray(0, -1)],
    [
      'wrong in its checksum',
      'gzip',
      Buffer.concat([gzipSync('{"name":"Fern"}').subarray(0, -8), randomBytes(8)]),
    ],
    ['corrupt', 'br', Buffer.from('{"name":"Fern"}')],
    ['cut short', 'br', brotliCompressSync('{"name":"Fern"}').subarray(0, -4)],
  ])('that is %s, with %s, gets 400', async (_, encoding, body) => {
    const message = 'The compressed request body is corrupt or cut short.';
    expectRefusal(await post(body, { encoding }), 400, 'invalid_json', message);
  });

  test('with an unknown coding gets 415 that names the supported ones', async () => {
    const message = 'The Content-Encoding must be gzip, deflate, br or identity.';
    const answer = await post('{}', { encoding: 'zstandard' });
    expectRefusal(answer, 415, 'unsupported_media_type', message);
  });

  test('that inflates beyond the limit gets 413 as soon as it does', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
    const { port, hostname } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /api/plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.token}\r\n` +
        'Content-Type: application/json\r\nContent-Encoding: gzip\r\n' +
        `Content-Length: ${bomb.length}\r\n\r\n`,
    );
    // Only a part is sent: the response must not need the rest.
    socket.write(bomb.subarray(0, 2000));
    const answer = await new Promise<string>((resolve) => {
      socket.once('data', (chunk: Buffer) => {
        resolve(chunk.toString());
      });
    });
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('"code":"payload_too_large"');
  });
});

test('a body that is cut off does not affect other requests', async () => {
  const { port, hostname } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve) => {
    socket.write(
      `POST /api/plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${user.token}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{"name":',
      () => {
        resolve();
      },
    );
  });
  socket.destroy();
  expect((await post('{"name":"Fern"}')).status).toBe(201);
});

describe('if no body is needed', () => {
  const restore = async (body: string, type = 'application/json') => {
    const plant = await user.plant();
    const event = await user.event(plant.id);
    return send(service.url, 'POST', `/api/events/${event.id}/restore`, {
      headers: {
        Authorization: `Bearer ${user.token}`,
        'Content-Type': type,
        'Content-Length': String(Buffer.byteLength(body)),
      },
      body,
    });
  };

  test.each(['', '{}'])('%j is accepted', async (body) => {
    expect((await restore(body)).status).toBe(200);
  });

  test('a body that is sent is still checked', async () => {
    expectRefusal(await restore('{bad'), 400, 'invalid_json');
    expectRefusal(await restore('{}', 'text/plain'), 415, 'unsupported_media_type');
    expectRefusal(await restore(padded(LIMIT + 1)), 413, 'payload_too_large');
    expect(faultsOf({ body: JSON.parse((await restore('{"x":1}')).body) as unknown })).toEqual([
      'x',
    ]);
  });
});
