import { record, records } from '../../../test/support/client';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { several } from '../../../test/support/several';
import { bodyOf } from '../../../test/support/shapes';
import { invite, letIn } from '../../../test/support/sharing';

let service: TestService;
let ada: TestUser;
let ben: TestUser;

beforeAll(async () => {
  service = await startService({ jobs: false });
});
beforeEach(async () => {
  [ada, ben] = await Promise.all([service.user(), service.user()]);
});
afterAll(() => service.close());

const REMINDERS = '/api/account/reminders';

function members() {
  const { db } = service.app.database.connection;
  if (!db) throw new Error('The service is not connected.');
  return db.collection('members');
}

/** Every way in which a membership ends for good. */
const ENDS: Readonly<Record<string, (member: string) => Promise<unknown>>> = {
  'the owner ends it': async (member) => ada.delete(`/api/account/members/${member}`).expect(200),
  'the member leaves': async () => ben.delete(`/api/gardens/${ada.id}`).expect(200),
  'the owner deletes their account': async () =>
    ada.delete('/api/account').send({ confirm: ada.id }).expect(200),
  'its time passes, and another invitation follows': async () => {
    await members().updateOne({ account: ben.id }, { $set: { until: new Date(0) } });
    const { code } = await invite(ada);
    await ben.post('/api/gardens/join', { code }).expect(200);
  },
  'its time passes, and it is forgotten for others': async () => {
    await members().updateOne({ account: ben.id }, { $set: { until: new Date(0) } });
    await several(50, () => invite(ada));
    const invited = { userId: ada.id, account: { $exists: false } };
    await members().updateMany(invited, { $set: { leftAt: new Date() } });
    await invite(ada);
    expect(await members().countDocuments({ account: ben.id })).toBe(0);
  },
};

test.each(Object.entries(ENDS))(
  'reminders and the calendar address of a member end when %s',
  async (_how, end) => {
    const member = await letIn(ada, ben, { role: 'carer' });
    const reminder = { channel: 'url', url: 'https://example.com/hook', garden: ada.id };
    await ben.post(REMINDERS, reminder).expect(201);
    const calendar = await ben.post('/api/account/calendar').set('Garden', ada.id).expect(201);
    const { pathname } = new URL(String(bodyOf(calendar)['url']));
    await service.anonymous.get(pathname).expect(200);
    const own = bodyOf(await ben.post(REMINDERS, { ...reminder, garden: undefined }).expect(201));
    await end(member);
    expect(bodyOf(await ben.get(REMINDERS).expect(200))['items']).toMatchObject([
      { id: own['id'], garden: null },
    ]);
    await service.anonymous.get(pathname).expect(404);
    const exported = record(bodyOf(await ben.get('/api/account/export').expect(200))['records']);
    expect(exported['calendars']).toEqual([]);
    expect(records(exported['reminders'])).toHaveLength(1);
  },
);
