import { record, records } from '../../../test/support/client';
import { resetClock, setClock } from '../../../test/support/clock';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError } from '../../../test/support/shapes';
import { letIn } from '../../../test/support/sharing';

let service: TestService;
let ada: TestUser;
let ben: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  [ada, ben] = await Promise.all([service.user(), service.user()]);
  await Promise.all([
    ada.plant({ name: 'Fern', wateringFrequencyDays: 3 }),
    ben.plant({ name: 'Cactus', wateringFrequencyDays: 3 }),
  ]);
});
afterEach(resetClock);
afterAll(() => service.close());

const CALENDAR = '/api/account/calendar';

/** Makes an address in the garden of an owner; returns its path. */
async function addressIn(owner: TestUser, person = ben): Promise<string> {
  const made = await person.post(CALENDAR).set('Garden', owner.id).expect(201);
  return new URL(String(bodyOf(made)['url'])).pathname;
}

async function plantsAt(path: string): Promise<string[]> {
  const { text } = await service.anonymous.get(path).expect(200);
  return [...new Set(text.match(/Fern|Cactus/g))];
}

async function expectGone(path: string): Promise<void> {
  expectError(await service.anonymous.get(path), 404, 'not_found');
}

test.each(['viewer', 'carer', 'gardener'])(
  'a %s makes an address of their own for the garden of another',
  async (role) => {
    await letIn(ada, ben, { role });
    const [adas, shared, own] = [
      await addressIn(ada, ada),
      await addressIn(ada),
      await addressIn(ben),
    ];
    expect([await plantsAt(adas), await plantsAt(shared), await plantsAt(own)]).toEqual([
      ['Fern'],
      ['Fern'],
      ['Cactus'],
    ]);
    const newer = await addressIn(ada);
    await expectGone(shared);
    await ben.delete(CALENDAR).set('Garden', ada.id).expect(200);
    await expectGone(newer);
    expect([await plantsAt(adas), await plantsAt(own)]).toEqual([['Fern'], ['Cactus']]);
  },
);

test('a token for a garden makes an address for that garden', async () => {
  await letIn(ada, ben, { role: 'viewer' });
  const wanted = { name: 'Script', scopes: ['plants:read'], garden: ada.id };
  const { token } = bodyOf(await ben.post('/api/account/tokens', wanted).expect(201));
  const headers = { Authorization: `Bearer ${String(token)}` };
  const made = await service.anonymous.post(CALENDAR).set(headers).expect(201);
  expect(await plantsAt(new URL(String(bodyOf(made)['url'])).pathname)).toEqual(['Fern']);
});

test.each<[string, (member: string) => Promise<unknown>]>([
  ['the owner ends it', async (id) => ada.delete(`/api/account/members/${id}`).expect(200)],
  ['the member leaves', async () => ben.delete(`/api/gardens/${ada.id}`).expect(200)],
  ['the owner goes', async () => ada.delete('/api/account').send({ confirm: ada.id }).expect(200)],
  [
    'its time has passed',
    async (id) => {
      const until = Date.now() + 60_000;
      await ada.patch(`/api/account/members/${id}`, { until: new Date(until) }).expect(200);
      setClock(until);
    },
  ],
])('an address ends with the membership when %s', async (_how, end) => {
  const member = await letIn(ada, ben);
  const [shared, own] = [await addressIn(ada), await addressIn(ben)];
  await end(member);
  await expectGone(shared);
  expect(await plantsAt(own)).toEqual(['Cactus']);
});

test('an address stays ended when its reader is let in again', async () => {
  const member = await letIn(ada, ben);
  const shared = await addressIn(ada);
  await ada.delete(`/api/account/members/${member}`).expect(200);
  await letIn(ada, ben);
  await expectGone(shared);
});

test('nobody else makes one, and keys of two gardens do not meet', async () => {
  expectError(await ben.post(CALENDAR).set('Garden', ada.id), 404, 'garden_not_found');
  await letIn(ada, ben);
  const key = { 'Idempotency-Key': 'calendar' };
  await ben
    .post(CALENDAR)
    .set({ ...key, Garden: ada.id })
    .expect(201);
  await ben.post(CALENDAR).set(key).expect(201);
  const again = await ben.post(CALENDAR).set({ ...key, Garden: ada.id });
  expectError(again, 409, 'idempotency_conflict');
});

test('the export of the reader has the address, and the acts are theirs', async () => {
  await letIn(ada, ben);
  await addressIn(ada);
  const exported = async (user: TestUser) =>
    records(
      record(bodyOf(await user.get('/api/account/export').expect(200))['records'])['calendars'],
    );
  expect(await exported(ben)).toMatchObject([{ garden: ada.id }]);
  expect(await exported(ada)).toEqual([]);
});
