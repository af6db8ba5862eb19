import type { Test } from 'supertest';

import { record } from './client';
import { acceptedBy, type FieldRule, refusedBy, type Samples } from './fields';
import { bodyOf, withoutDetails } from './shapes';

/** A field of a request under test. */
export interface FieldUnderTest {
  name: string;
  rule: FieldRule;
  nullable: boolean;
  /** Sends a request in which this field has this value and all else is right. */
  send: (fields: Record<string, unknown>) => Test;
  /** The status of a request that is let through. */
  success: 200 | 201;
  /** Reads what is stored, by the id that the answer gave. */
  stored: (id: string) => Promise<Record<string, unknown>>;
  /** What the field is called in responses; its own name where left out. */
  answeredAs?: string;
}

const REFUSAL = { status: 400, code: 'validation_error', namesTheField: true };

/** Checks that the field keeps every value it must take as it was sent, and refuses all others. */
export async function checkField(field: FieldUnderTest): Promise<void> {
  const { name, rule, nullable, success } = field;
  const accepted: Samples = { ...acceptedBy(rule), ...(nullable ? { null: null } : {}) };
  const refused: Samples = { ...refusedBy(rule), ...(nullable ? {} : { null: null }) };
  const outcomes: Record<string, unknown> = {};
  const wanted: Record<string, unknown> = {};
  // One after the other: only so can changes of one record be distinguished.
  for (const [label, value] of Object.entries(accepted)) {
    wanted[label] = { status: success, answered: value, stored: value };
    outcomes[label] = await exitOf(field, value);
  }
  await Promise.all(
    Object.entries(refused).map(async ([label, value]) => {
      wanted[label] = REFUSAL;
      const response = await field.send({ [name]: value });
      outcomes[label] = refusalOf(response.status, bodyOf(response), name);
    }),
  );
  expect(outcomes).toEqual(wanted);
}

async function exitOf(field: FieldUnderTest, value: unknown): Promise<object> {
  const { name, success, answeredAs = name } = field;
  const response = await field.send({ [name]: value });
  const answer = bodyOf(response);
  if (response.status !== success) return refusalOf(response.status, answer, name);
  const stored = await field.stored(String(answer['id']));
  return { status: success, answered: answer[answeredAs], stored: stored[answeredAs] };
}

function refusalOf(status: number, body: Record<string, unknown>, name: string): object {
  const { error, code, ...rest } = record(withoutDetails(body));
  const namesTheField = typeof error === 'string' && error.includes(name);
  return { status, code, namesTheField: namesTheField || error, ...rest };
}
