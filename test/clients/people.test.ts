import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';

import { everythingStored, oauthPlugin, startService, until } from '../support/program';
import type { TestService } from '../support/service';

const run = promisify(execFile);

/** Drives a browser, which `make test-clients` installs. */
const PEOPLE = path.join(__dirname, 'people.mjs');

/** The findings of a person. */
interface Visit {
  /** The API's statuses for the token, before and after it was revoked. */
  before: number;
  after: number;
  exported: { account: { id: string }; records: { waysToSignIn: object[] } };
  /** Whether the settings ask to sign in after the account was deleted. */
  isOut: boolean;
  language: string;
  /** Errors of the page or the browser, and accessibility problems. */
  faults: string[];
}

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

test.each([
  ['on a phone', '390', 'en-GB', 'light', 'en'],
  ['on a phone, in French and the dark', '390', 'fr-FR', 'dark', 'fr'],
  ['at a desk', '1280', 'en-GB', 'dark', 'en'],
  ['at a desk, in French', '1280', 'fr-CH', 'light', 'fr'],
])(
  'a person signs up by invitation with a passkey, creates a token, exports the data and deletes the account, %s',
  async (_where, width, locale, scheme, language) => {
    const name = `fern-${randomUUID()}`;
    const url = service.url.replace('127.0.0.1', 'localhost');
    const link = new URL(await service.app.exportsOf(oauthPlugin).invite(name, 'pro', 3600));
    const invitation = url + link.pathname + link.search;
    const screenshots = process.env['SCREENSHOTS'] ?? '';
    const visit = [PEOPLE, url, invitation, name, width, locale, scheme, screenshots];
    const { stdout } = await run(process.execPath, visit);
    const found = JSON.parse(stdout) as Visit;
    expect(found).toMatchObject({ before: 200, after: 401, isOut: true, language, faults: [] });
    expect(found.exported.account.id).toBe(name);
    expect(found.exported.records.waysToSignIn).toMatchObject([
      { kind: 'password' },
      { kind: 'passkey', name: 'Chrome, Linux' },
    ]);
    await until(async () => !JSON.stringify(await everythingStored(service)).includes(name));
  },
);
