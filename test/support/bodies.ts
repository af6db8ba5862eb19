import type { Response } from 'supertest';

import { record } from './client';

/** An Error body without the details that one of validation may have. */
export function withoutDetails(body: unknown): unknown {
  const { details, ...rest } = record(body);
  return details !== undefined && rest['code'] === 'validation_error' ? rest : body;
}

/** The body of an answer as something with keys. */
export function bodyOf(response: Pick<Response, 'body'>): Record<string, unknown> {
  return response.body as Record<string, unknown>; // Whoever reads a key compares its value.
}

/** The body of an answer as a list. */
export function listOf(
  response: Pick<Response, 'body'>,
): (Record<string, unknown> & { id: string })[] {
  return response.body as (Record<string, unknown> & { id: string })[]; // Compared where it is used.
}
