import { assistant, refused } from '../mcp/support';
import { record, records } from '../support/client';
import { send } from '../support/raw';
import { sendJson } from '../support/raw-json';
import type { TestService, TestUser } from '../support/service';
import { NOBODYS_ID } from '../support/shapes';
import { everythingStored, startService } from '../support/program';

let service: TestService;
let user: TestUser;
let plantId: string;

beforeAll(async () => {
  // Without the jobs nothing but the requests of the tests writes.
  service = await startService({ jobs: false });
  user = await service.user();
  ({ id: plantId } = await user.plant());
});
afterAll(() => service.close());

/** Six fields of a plant, all invalid, and the message for each. */
const WRONG = {
  name: '',
  species: 7,
  wateringFrequencyDays: 0,
  lightRequirement: 'sunny',
  toxic: 1,
  colour: 'green',
};
const FAULTS = [
  { field: 'name', message: 'name must not be empty.' },
  { field: 'species', message: 'species must be a string.' },
  {
    field: 'wateringFrequencyDays',
    message: 'wateringFrequencyDays must be greater than or equal to 1.',
  },
  {
    field: 'lightRequirement',
    message: 'lightRequirement must be one of [low, medium, bright_indirect, full_sun].',
  },
  { field: 'toxic', message: 'toxic must be a boolean.' },
  { field: 'colour', message: 'colour is not allowed.' },
];

function post(text: string, path = '/api/plants', method = 'POST') {
  return sendJson(service.url, user, method, path, text);
}

test('six faults of a body are all reported, in the order of the fields', async () => {
  const before = await everythingStored(service);
  expect(await post(JSON.stringify(WRONG))).toEqual({
    status: 400,
    body: {
      error: 'name must not be empty (and 5 more faults).',
      code: 'validation_error',
      details: FAULTS,
    },
  });
  expect(await everythingStored(service)).toEqual(before);
});

test('one fault is the error and the only detail', async () => {
  expect(await post('{"name": "Fern", "toxic": null}')).toEqual({
    status: 400,
    body: {
      error: 'toxic must be a boolean.',
      code: 'validation_error',
      details: [{ field: 'toxic', message: 'toxic must be a boolean.' }],
    },
  });
});

test('a field that cannot be changed is refused with the reason, over REST and as a tool', async () => {
  const event = await user.event(plantId);
  const given = { text: 'x', type: 'fertilized', plantId, createdAt: '2026-03-01T09:30:00Z' };
  const reasons = [
    'type cannot be changed: delete the event and log another.',
    'plantId cannot be changed: delete the event and log another.',
    'createdAt cannot be changed: the service sets it.',
  ];
  const answer = await user.patch(`/api/events/${event.id}`, given).expect(400);
  expect(records(record(answer.body)['details']).map(({ message }) => message)).toEqual(reasons);
  const text = await refused(await assistant(service), 'update_event', { id: event.id, ...given });
  for (const reason of reasons.slice(1)) expect(text).toContain(reason);
  const watered = await user.patch(`/api/plants/${plantId}`, { lastWatered: null }).expect(400);
  expect(record(watered.body)['error']).toBe(
    'lastWatered cannot be changed: it follows from the events of the plant.',
  );
});

test('a tool reports the same faults at once, with those of the id', async () => {
  const me = await assistant(service);
  const text = await refused(me, 'create_plant', WRONG);
  expect(text).toMatch(
    /^validation_error: name is required \(and 5 more faults\)\. .* Correct this and call create_plant again\.$/,
  );
  for (const { message } of FAULTS.slice(1)) expect(text).toContain(message);
  expect(await refused(me, 'update_plant', { ...WRONG, id: 'fern' })).toMatch(
    /^validation_error: id must be a UUID\. species must be a string \(and 4 more faults\)\. /,
  );
});

test.each([
  [
    'photoIds',
    `/api/plants/${NOBODYS_ID}/events`,
    { photoIds: ['fern', 7, NOBODYS_ID, NOBODYS_ID] },
    {
      'photoIds[0]': 'must be a UUID',
      'photoIds[1]': 'must be a string',
      'photoIds[3]': 'repeats an earlier item',
    },
  ],
  [
    'dates',
    `/api/plants/${NOBODYS_ID}/events`,
    { occurredAt: '2026-02-30T09:00:00Z', growthAmount: 0, isJournal: true, type: 'note' },
    {
      occurredAt: 'must be an RFC 3339 date-time',
      growthAmount: 'must be greater than 0',
      type: 'must be journal, or left out, when isJournal is true',
    },
  ],
  [
    'texts',
    '/api/photos',
    { imagehostPublicId: 'a\0b', secureUrl: 'https://x.y/%zz', format: 'x'.repeat(2000) },
    {
      imagehostPublicId: 'must not contain a NUL character',
      secureUrl: 'must be an http or https URI (RFC 3986)',
      format: 'must have at most',
      width: 'is required',
      height: 'is required',
    },
  ],
])('each fault of %s is listed in plain words', async (_what, path, fields, wanted) => {
  const { status, body } = await post(JSON.stringify(fields), path);
  const { error, code, details } = record(body);
  expect({ status, code }).toEqual({ status: 400, code: 'validation_error' });
  const listed = records(details).map(({ field, message }) => [field, message]);
  expect(Object.fromEntries(listed)).toEqual(
    Object.fromEntries(
      Object.entries(wanted).map(([name, what]) => [
        name,
        expect.stringContaining(`${name} ${what}`) as string,
      ]),
    ),
  );
  expect(listed).toHaveLength(Object.keys(wanted).length);
  // Not plain words: a regular expression, or a name from Joi.
  expect(JSON.stringify([error, details])).not.toMatch(/pattern|\\\\|\^|ref:|infinity|unsafe/);
});

test('numbers outside the range of doubles are reported with the other faults', async () => {
  const { body } = await post('{"name": 7, "wateringFrequencyDays": 1e400}');
  expect(record(body)['details']).toEqual([
    { field: 'name', message: 'name must be a string.' },
    { field: 'wateringFrequencyDays', message: 'wateringFrequencyDays is out of range.' },
  ]);
});

test('every fault of a query is listed: invalid, unknown and repeated parameters', async () => {
  const query = 'limit=0&cursor=a&cursor=b&colour=green&__proto__=1';
  const answer = await send(service.url, 'GET', `/api/plants/${plantId}/events?${query}`, {
    headers: { Authorization: `Bearer ${user.token}` },
  });
  expect([answer.status, JSON.parse(answer.body)]).toEqual([
    400,
    {
      error: 'cursor must be given only once (and 3 more faults).',
      code: 'validation_error',
      details: [
        { field: 'cursor', message: 'cursor must be given only once.' },
        { field: 'limit', message: 'limit must be greater than or equal to 1.' },
        { field: 'colour', message: 'colour is not allowed.' },
        { field: '__proto__', message: '__proto__ is not allowed.' },
      ],
    },
  ]);
});

test('missing query parameters are listed, without faults that only follow from them', async () => {
  const month = (query: string) => user.get(`/api/plants/${plantId}/events/month?${query}`);
  const none = await month('').expect(400);
  expect(none.body).toMatchObject({
    details: [{ field: 'monthStart' }, { field: 'monthEnd' }],
  });
  const half = await month('monthEnd=7').expect(400);
  expect(half.body).toMatchObject({
    error: 'monthStart is required.',
    details: [{ field: 'monthStart' }],
  });
});

test('faults of the query of a write are listed with those of its body', async () => {
  const { body } = await post('{"name": 7}', '/api/plants?colour=green');
  expect(record(body)['details']).toMatchObject([{ field: 'colour' }, { field: 'name' }]);
});

test('at most twenty faults are listed, and all are counted', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 30 }, (_, key) => [`key${key}`, 1]));
  const { body } = await post(JSON.stringify({ name: 7, ...unknown }));
  expect(body).toMatchObject({ error: 'name must be a string (and 30 more faults).' });
  expect(records(record(body)['details']).map(({ field }) => field)).toEqual([
    'name',
    ...Object.keys(unknown).slice(0, 19),
  ]);
});

test.each(['k'.repeat(90_000), '🌱'.repeat(20_000), `a${'🌱'.repeat(20_000)}`, '\ud800'])(
  'the name of an unknown field is shortened (%#)',
  async (name) => {
    const { status, body } = await post(JSON.stringify({ name: 'Fern', [name]: 1 }));
    expect(status).toBe(400);
    expect(JSON.stringify(body).length).toBeLessThan(500);
    expect(JSON.stringify(body)).not.toContain('\\ud');
    expect(body).toMatchObject({
      details: [{ message: expect.stringMatching(/ is not allowed\.$/) as string }],
    });
  },
);

test('other errors have no details', async () => {
  for (const [path, text] of [
    ['/api/plants', '{'],
    ['/api/nowhere', '{}'],
    [`/api/plants/${NOBODYS_ID}/events`, '{}'],
  ] as const) {
    expect(Object.keys(record((await post(text, path)).body))).toEqual(['error', 'code']);
  }
});

/** The least CPU time of a response to this body, in milliseconds. */
async function costOf(text: string, path: string): Promise<number> {
  const times: number[] = [];
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const start = process.cpuUsage();
    expect((await post(text, path)).status).toBe(400);
    const { user: own, system } = process.cpuUsage(start);
    times.push((own + system) / 1000);
  }
  return Math.min(...times);
}

test('bodies full of faults cost little more than valid ones of the same size', async () => {
  const path = `/api/plants/${plantId}/events`;
  const keys = Array.from({ length: 11_000 }, (_, key) => `"${key.toString(36)}":1`);
  const list = (item: string, count: number) =>
    `{"photoIds":[${Array<string>(count).fill(item).join()}]}`;
  const plain = await costOf(`{"text":"${'x'.repeat(100_000)}"}`, path);
  for (const text of [
    `{${keys.join()}}`,
    list('""', 33_000),
    list('1', 50_000),
    list('{}', 33_000),
    list(`"${NOBODYS_ID}"`, 2600),
  ]) {
    expect(text.length).toBeLessThan(102_400);
    // Listing each fault, or comparing each item with every other, would take a hundred times as long.
    expect(await costOf(text, path)).toBeLessThan(plain * 10 + 100);
  }
});
