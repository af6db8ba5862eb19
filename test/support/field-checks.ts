import type { Test } from 'supertest';

import { acceptedBy, type FieldRule, refusedBy, type Samples } from './fields';
import { bodyOf, faultsOf } from './shapes';

/** The fields of a request under test. */
interface FieldsUnderTest {
  rules: Readonly<Record<string, FieldRule>>;
  /** The fields that may be null. */
  nullable: readonly string[];
  /** Sends a valid request with these values of these fields. */
  send: (fields: Record<string, unknown>) => Test;
  /** The status of a valid request. */
  success: 200 | 201;
  /** Reads the stored record by the id in the response. */
  stored: (id: string) => Promise<Record<string, unknown>>;
}

/**
 * Checks that each field stores every valid value unchanged, and refuses all others by name. All fields
 * are checked at once: the first sample of each, then the second of each.
 */
export async function checkFields(fields: FieldsUnderTest): Promise<void> {
  const { nullable, send, stored, success } = fields;
  const none = (name: string, isNullable: boolean): Samples =>
    nullable.includes(name) === isNullable ? { null: null } : {};
  const accepted = roundsOf(fields, (name, rule) => ({ ...acceptedBy(rule), ...none(name, true) }));
  // In sequence, because all of them may change one record.
  for (const { labels, values } of accepted) {
    const response = await send(values);
    expect({ labels, status: response.status }).toEqual({ labels, status: success });
    expect({ labels, answered: response.body as unknown }).toMatchObject({
      labels,
      answered: values,
    });
    const id = String(bodyOf(response)['id']);
    expect({ labels, stored: await stored(id) }).toMatchObject({ labels, stored: values });
  }
  const refused = roundsOf(fields, (name, rule) => ({ ...refusedBy(rule), ...none(name, false) }));
  for (const { labels, values } of refused) {
    const response = await send(values);
    expect({ labels, status: response.status, refused: faultsOf(response) }).toEqual({
      labels,
      status: 400,
      refused: Object.keys(values).sort(),
    });
  }
}

/** The samples of all fields, one of each field at a time. */
function roundsOf(
  { rules }: FieldsUnderTest,
  samplesOf: (name: string, rule: FieldRule) => Samples,
) {
  const entries = Object.entries(rules).map(
    ([name, rule]) => [name, Object.entries(samplesOf(name, rule))] as const,
  );
  const count = Math.max(...entries.map(([, samples]) => samples.length));
  return Array.from({ length: count }, (_, round) => {
    const labels: Record<string, string> = {};
    const values: Record<string, unknown> = {};
    for (const [name, samples] of entries) {
      const [label, value] = samples[round] ?? [];
      if (label === undefined) continue;
      labels[name] = label;
      values[name] = value;
    }
    return { labels, values };
  });
}
