import type { Test } from 'supertest';

import { expectError } from './shapes';

/** Sends requests at once; returns how many succeed. All others must have reached the limit. */
export async function countThrough(
  send: () => Test,
  times: number,
  code: string,
  success = 201,
): Promise<number> {
  const answers = await Promise.all(Array.from({ length: times }, () => send()));
  const through = answers.filter(({ status }) => status === success);
  for (const answer of answers) {
    if (answer.status !== success) expectError(answer, 403, code);
  }
  return through.length;
}
