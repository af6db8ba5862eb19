import { randomUUID } from 'node:crypto';

import { oauthPlugin } from '../../../test/support/program';
import type { TestService } from '../../../test/support/service';
import { Browser } from './browser';

export const PASSWORD = 'seven green ferns';

/** Somebody who signs in. */
export interface Person {
  name: string;
  password: string;
}

/** Somebody who was invited, and has chosen a password. */
export async function person(service: TestService, name = `user-${randomUUID()}`): Promise<Person> {
  const browser = new Browser(service.url);
  const page = await browser.go(await inviteTo(service, name));
  const done = await browser.submit(page, { password: PASSWORD });
  if (done.status !== 200) throw new Error(done.text);
  return { name, password: PASSWORD };
}

/** The path of the link by which somebody is invited. */
export async function inviteTo(service: TestService, name: string): Promise<string> {
  const link = new URL(await service.app.exportsOf(oauthPlugin).invite(name, 'pro', 3600));
  return link.pathname + link.search;
}
