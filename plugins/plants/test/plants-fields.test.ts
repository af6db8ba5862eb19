import { checkFields } from '../../../test/support/field-checks';
import type { FieldRule } from '../../../test/support/fields';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf, expectError } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

/** docs/specification.md, 2.2 and 8. */
const FIELDS: Readonly<Record<string, FieldRule>> = {
  name: { kind: 'text', min: 1, max: 100 },
  species: { kind: 'text', max: 100 },
  location: { kind: 'text', max: 100 },
  notes: { kind: 'text', max: 1000 },
  primaryPhotoId: { kind: 'uuid' },
  wateringFrequencyDays: { kind: 'integer', min: 1, max: 365 },
  wateringNotes: { kind: 'text', max: 500 },
  lightRequirement: { kind: 'enum', values: ['low', 'medium', 'bright_indirect', 'full_sun'] },
  lightNotes: { kind: 'text', max: 500 },
  soilType: { kind: 'text', max: 100 },
  potType: { kind: 'enum', values: ['plastic', 'terracotta', 'ceramic', 'fabric', 'other'] },
  fertilizerType: { kind: 'text', max: 100 },
  fertilizerFrequencyDays: { kind: 'integer', min: 1, max: 365 },
  fertilizerNotes: { kind: 'text', max: 500 },
  humidityPreference: { kind: 'enum', values: ['low', 'medium', 'high'] },
  temperatureNotes: { kind: 'text', max: 500 },
  mossPoleNeeded: { kind: 'boolean' },
  toxic: { kind: 'boolean' },
  careNotes: { kind: 'text', max: 1000 },
};
const NEVER_NULL = ['name', 'mossPoleNeeded', 'toxic'];

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
  user = await service.user();
});
afterAll(() => service.close());

async function stored(id: string): Promise<Record<string, unknown>> {
  return bodyOf(await user.get(`/api/plants/${id}`).expect(200));
}

test('each field of a new plant is accepted within its limits and returned as sent', async () => {
  await checkFields({
    rules: FIELDS,
    nullable: [],
    send: (fields) => user.post('/api/plants', { name: 'Fern', ...fields }),
    success: 201,
    stored,
  });
});

test('a change accepts the same values as a new plant, and null for fields that can be cleared', async () => {
  const { id } = await user.plant();
  await checkFields({
    rules: FIELDS,
    nullable: Object.keys(FIELDS).filter((name) => !NEVER_NULL.includes(name)),
    send: (fields) => user.patch(`/api/plants/${id}`, fields),
    success: 200,
    stored,
  });
});

test('a plant needs a name', async () => {
  const response = await user.post('/api/plants', { species: 'Fern' });
  expectError(response, 400, 'validation_error', /\bname\b/);
});
