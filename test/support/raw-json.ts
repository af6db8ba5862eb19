import { keptConnections, send } from './raw';
import type { TestUser } from './service';

/** Sends JSON text unchanged, since JSON.stringify cannot create all of it. */
export async function sendJson(
  url: string,
  user: Pick<TestUser, 'token'>,
  method: string,
  path: string,
  text: string,
): Promise<{ status: number; body: unknown }> {
  const answer = await send(url, method, path, {
    headers: {
      Authorization: `Bearer ${user.token}`,
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(text)),
    },
    body: text,
    agent: keptConnections,
  });
  return { status: answer.status, body: JSON.parse(answer.body) as unknown };
}
