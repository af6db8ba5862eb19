import { bodyOf } from './bodies';
import { record } from './client';
import type { TestUser } from './service';

/** Invites a person to the garden of a user; returns the code, and the id of the member. */
export async function invite(
  owner: TestUser,
  fields: object = {},
): Promise<{ id: string; code: string }> {
  const wanted = { name: 'Ben', role: 'viewer', ...fields };
  const { id, invitation } = bodyOf(await owner.post('/api/account/members', wanted).expect(201));
  return { id: String(id), code: String(record(invitation)['code']) };
}

/** Lets a person into the garden of a user; returns the id of the member. */
export async function letIn(
  owner: TestUser,
  person: TestUser,
  fields: object = {},
): Promise<string> {
  const { id, code } = await invite(owner, fields);
  await person.post('/api/gardens/join', { code }).expect(200);
  return id;
}
