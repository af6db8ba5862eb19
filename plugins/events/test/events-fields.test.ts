import { checkFields } from '../../../test/support/field-checks';
import type { FieldRule } from '../../../test/support/fields';
import { plantForEachTest } from '../../../test/support/plant-for-each-test';
import { sendJson } from '../../../test/support/raw-json';
import { bodyOf, expectError } from '../../../test/support/shapes';

const TYPES = ['watered', 'fertilized', 'repotted', 'soil_change', 'note', 'journal', 'growth'];

/** docs/specification.md, 2.6. */
const CHANGEABLE: Readonly<Record<string, FieldRule>> = {
  text: { kind: 'text', max: 2000 },
  occurredAt: { kind: 'date-time' },
  photoIds: { kind: 'uuids' },
  growthAmount: { kind: 'positive' },
  growthUnit: { kind: 'enum', values: ['cm', 'in'] },
};
/** docs/specification.md, 2.5. */
const FIELDS: Readonly<Record<string, FieldRule>> = {
  ...CHANGEABLE,
  type: { kind: 'enum', values: TYPES },
};

const garden = plantForEachTest();

/** An event as the list shows it: single events cannot be read. */
async function stored(id: string): Promise<Record<string, unknown>> {
  const page = await garden.user.get(`/api/plants/${garden.plantId}/events?limit=100`).expect(200);
  const items = bodyOf(page)['items'] as Record<string, unknown>[]; // The caller compares them.
  return items.find((event) => event['id'] === id) ?? {};
}

test('each field of a new event is accepted within its limits and returned as sent', async () => {
  await checkFields({
    rules: FIELDS,
    nullable: [],
    send: (fields) => garden.user.post(`/api/plants/${garden.plantId}/events`, fields),
    success: 201,
    stored,
  });
});

test('a change accepts the same values as a new event, and null only for text', async () => {
  const { id } = await garden.user.event(garden.plantId);
  await checkFields({
    rules: CHANGEABLE,
    nullable: ['text'],
    send: (fields) => garden.user.patch(`/api/events/${id}`, fields),
    success: 200,
    stored,
  });
});

test('isJournal is a boolean', async () => {
  for (const isJournal of ['true', 1, 0, '', null, [], {}]) {
    const response = await garden.user.post(`/api/plants/${garden.plantId}/events`, { isJournal });
    expectError(response, 400, 'validation_error', /\bisJournal\b/);
  }
});

test('an amount of growth beyond the range of a double is refused', async () => {
  for (const amount of ['1e400', '-1e400']) {
    const response = await log(`{"growthAmount": ${amount}}`);
    expectError(response, 400, 'validation_error', /\bgrowthAmount\b/);
  }
});

test.each(['1e2', '100.0', '1E+2'])('%s is read as the number 100', async (text) => {
  const response = await log(`{"growthAmount": ${text}}`);
  expect(response).toMatchObject({ status: 201, body: { growthAmount: 100 } });
});

function log(text: string): Promise<{ status: number; body: unknown }> {
  return sendJson(
    garden.service.url,
    garden.user,
    'POST',
    `/api/plants/${garden.plantId}/events`,
    text,
  );
}
