import type { SMTPServerOptions } from 'smtp-server';

import { record, records } from '../../../test/support/client';
import { resetClock, runJobsAt, setClock } from '../../../test/support/clock';
import { MailServer, refusal } from '../../../test/support/mail-server';
import { startService } from '../../../test/support/program';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError } from '../../../test/support/shapes';
import { letIn } from '../../../test/support/sharing';

const PATH = '/api/account/reminders';

let mailServer: MailServer;
let service: TestService;
let refuses = false;

beforeAll(async () => {
  setClock('2037-01-01T00:00:00Z');
  const onRcptTo: SMTPServerOptions['onRcptTo'] = (_address, _session, done) => {
    done(refuses ? refusal(550, 'No mailbox') : undefined);
  };
  mailServer = await MailServer.start({ onRcptTo });
  const env = { SMTP_URL: mailServer.url(), MAIL_FROM: 'Plants <plants@example.com>' };
  service = await startService({ jobs: false, env });
});
beforeEach(() => {
  setClock('2037-01-01T00:00:00Z');
  refuses = false;
});
afterEach(async () => {
  for (const name of ['reminderClocks', 'reminders']) await collection(name).deleteMany({});
});
afterAll(async () => {
  resetClock();
  await service.close();
  await mailServer.close();
});

function collection(name: string) {
  return service.app.database.connection.collection(name);
}

function runAt(...moments: readonly string[]): Promise<void> {
  return runJobsAt(service, ['reminders', 'webhook delivery'], moments);
}

const made = () => service.user({ expiresInSeconds: 360 * 24 * 3600 });

/** A person with a confirmed address. */
async function withAddress(user: TestUser): Promise<string> {
  const address = `${user.id}@example.net`.toLowerCase();
  const document: object = { _id: user.id, address, language: 'en', confirmedAt: new Date() };
  await collection('mailAddresses').bulkWrite([{ insertOne: { document } }]);
  return address;
}

async function only(user: TestUser): Promise<Record<string, unknown>> {
  return record(records(bodyOf(await user.get(PATH).expect(200))['items'])[0]);
}

test('a mail says what is due, to the confirmed address', async () => {
  const [owner, person] = [await made(), await made()];
  await owner.patch('/api/account', { gardenName: 'Balcony\r\nBcc: x@example.com' }).expect(200);
  await owner.plant({ name: 'Fern\r\nX-Evil: 1', wateringFrequencyDays: 1 });
  await letIn(owner, person);
  const set = { channel: 'email', garden: owner.id };
  expectError(await person.post(PATH, set), 400, 'email_not_confirmed');
  const address = await withAddress(person);
  await person.post(PATH, set).expect(201);
  await runAt('2037-01-02T06:59:00Z', '2037-01-02T07:00:00Z', '2037-01-02T08:00:00Z');
  const [mail, ...more] = mailServer.take(address);
  expect(more).toEqual([]);
  expect(mail?.recipients).toEqual([address]);
  expect(mail?.subject).toBe('Balcony Bcc: x@example.com: A plant needs care');
  expect(mail?.text).toMatch(/^Fern X-Evil: 1\n\nhttp\S+\/garden\n$/);
  expect(mail?.headers.get('auto-submitted')).toBe('auto-generated');
  expect([...(mail?.headers.keys() ?? [])]).not.toContain('x-evil');
  expect(await only(person)).toMatchObject({
    problem: null,
    lastSentAt: expect.any(String) as string,
  });
});

test('a mailbox that refuses is tried once a day, and the reminder says so', async () => {
  const user = await made();
  await user.plant({ name: 'Fern', wateringFrequencyDays: 1 });
  await withAddress(user);
  await user.post(PATH, { channel: 'email' }).expect(201);
  refuses = true;
  await runAt('2037-01-02T06:59:00Z', '2037-01-02T07:00:00Z');
  expect(await only(user)).toMatchObject({
    active: true,
    problem: expect.stringContaining('550') as string,
  });
  const before = mailServer.connections;
  await runAt('2037-01-02T07:10:00Z');
  expect(mailServer.connections).toBe(before);
});

test('a reminder without an address any more is switched off, and tells why', async () => {
  const user = await made();
  await user.plant({ name: 'Fern', wateringFrequencyDays: 1 });
  await withAddress(user);
  await user.post(PATH, { channel: 'email' }).expect(201);
  await collection('mailAddresses').deleteMany({ _id: user.id as never });
  await runAt('2037-01-02T06:59:00Z', '2037-01-02T07:00:00Z');
  expect(await only(user)).toMatchObject({
    active: false,
    problem: expect.stringMatching(/no confirmed e-mail address/) as string,
  });
});
