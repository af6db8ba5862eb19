import type { Response } from 'supertest';

import { record } from './client';

/** An Error body without `details`, which only validation errors have. */
export function withoutDetails(body: unknown): unknown {
  const { details, ...rest } = record(body);
  return details !== undefined && rest['code'] === 'validation_error' ? rest : body;
}

/** The body of a response as a record. */
export function bodyOf(response: Pick<Response, 'body'>): Record<string, unknown> {
  return response.body as Record<string, unknown>; // Tests compare the values.
}

/** The body of a response as a list of records. */
export function listOf(
  response: Pick<Response, 'body'>,
): (Record<string, unknown> & { id: string })[] {
  return response.body as (Record<string, unknown> & { id: string })[]; // As above.
}
