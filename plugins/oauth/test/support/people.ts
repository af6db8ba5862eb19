import { randomUUID } from 'node:crypto';

import { oauthPlugin } from '../../../../test/support/program';
import type { TestService } from '../../../../test/support/service';
import { Browser } from './browser';

export const PASSWORD = 'seven green ferns';

/** A person who can sign in. */
export interface Person {
  name: string;
  password: string;
}

/** Creates a person with a password through an invitation. */
export async function person(service: TestService, name = `user-${randomUUID()}`): Promise<Person> {
  const browser = new Browser(service.url);
  const page = await browser.go(await inviteTo(service, name));
  const done = await browser.submit(page, { password: PASSWORD });
  if (done.status !== 200) throw new Error(done.text);
  return { name, password: PASSWORD };
}

/** The path of an invitation link. */
export async function inviteTo(service: TestService, name: string): Promise<string> {
  const link = new URL(await service.app.exportsOf(oauthPlugin).invite(name, 'pro', 3600));
  return link.pathname + link.search;
}
