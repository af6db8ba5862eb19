import { checkFields } from '../../../test/support/field-checks';
import type { FieldRule } from '../../../test/support/fields';
import type { TestService, TestUser } from '../../../test/support/service';
import { anyId, anyInstant, bodyOf, expectError, NOBODYS_ID } from '../../../test/support/shapes';
import { startService, photoModel } from '../../../test/support/program';

const REQUIRED = {
  imagehostPublicId: 'garden/fern',
  secureUrl: 'https://images.example.com/fern.jpg',
  width: 800,
  height: 600,
  format: 'jpg',
};

/** docs/specification.md, 2.8. */
const FIELDS: Readonly<Record<string, FieldRule>> = {
  plantId: { kind: 'uuid' },
  imagehostPublicId: { kind: 'text', min: 1, max: 512 },
  secureUrl: { kind: 'url' },
  width: { kind: 'integer', min: 1 },
  height: { kind: 'integer', min: 1 },
  format: { kind: 'text', min: 1, max: 32 },
  bytes: { kind: 'integer', min: 0 },
  takenAt: { kind: 'date-time' },
};

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
  user = await service.user();
});
afterAll(() => service.close());

async function stored(id: string): Promise<Record<string, unknown>> {
  return bodyOf(await user.get(`/api/photos/${id}`).expect(200));
}

test('a photo with only the required fields has all others as null or their default', async () => {
  const response = await user.post('/api/photos', REQUIRED).expect(201);
  const photo = bodyOf(response);
  expect(photo).toEqual({
    id: anyId,
    userId: user.id,
    plantId: null,
    ...REQUIRED,
    bytes: 0,
    cropX: null,
    cropY: null,
    cropWidth: null,
    cropHeight: null,
    takenAt: null,
    createdAt: anyInstant,
    updatedAt: anyInstant,
  });
  expect(await stored(String(photo['id']))).toEqual(photo);
});

test('a photo that was stored under wider limits is returned unchanged', async () => {
  const { id } = await user.photo();
  const longer = { imagehostPublicId: 'f'.repeat(1024), format: 'f'.repeat(100) };
  const photos = service.app.database.model(photoModel);
  await photos.updateOne({ userId: user.id, _id: id }, longer, { middleware: false });
  expect(await stored(id)).toMatchObject(longer);
  const crop = { x: 0, y: 0, width: 10, height: 10 };
  expect((await user.patch(`/api/photos/${id}`, crop).expect(200)).body).toMatchObject(longer);
});

test('the scheme of a URL may be in either case, and its length is limited', async () => {
  const secureUrl = 'HTTPS://images.example.com/fern.jpg';
  const photo = await user.post('/api/photos', { ...REQUIRED, secureUrl }).expect(201);
  expect(photo.body).toMatchObject({ secureUrl });
  const long = `https://images.example.com/${'f'.repeat(2048)}`;
  const refused = await user.post('/api/photos', { ...REQUIRED, secureUrl: long }).expect(400);
  expect(refused.text).toContain('secureUrl');
});

test('each field of a new photo is accepted within its limits and returned as sent', async () => {
  await checkFields({
    rules: FIELDS,
    nullable: [],
    send: (fields) => user.post('/api/photos', { ...REQUIRED, ...fields }),
    success: 201,
    stored,
  });
});

test.each(Object.keys(REQUIRED))('a photo needs %s', async (field) => {
  const response = await user.post('/api/photos', { ...REQUIRED, [field]: undefined });
  expectError(response, 400, 'validation_error', new RegExp(`\\b${field}\\b`));
});

test('bytes may exceed 32 bits', async () => {
  const photo = await user.photo({ bytes: 5_000_000_000 });
  expect((await stored(photo.id))['bytes']).toBe(5_000_000_000);
});

describe('the plant of a photo', () => {
  test('is a plant of the user, with its id in either case', async () => {
    const plant = await user.plant();
    const photo = await user.photo({ plantId: plant.id.toUpperCase() });
    expect(photo['plantId']).toBe(plant.id);
    expect(await stored(photo.id)).toEqual(photo);
  });

  test('is refused if it does not exist, was deleted, or is another user’s', async () => {
    const other = await service.user();
    const foreign = await other.plant();
    const deleted = await user.plant();
    await user.delete(`/api/plants/${deleted.id}`).expect(200);
    const photos = service.app.database.connection.collection('photos');
    const before = await photos.countDocuments({ userId: user.id });
    for (const plantId of [NOBODYS_ID, foreign.id, deleted.id]) {
      const response = await user.post('/api/photos', { ...REQUIRED, plantId });
      expectError(response, 400, 'plant_not_found', /\bplantId\b/);
    }
    expect(await photos.countDocuments({ userId: user.id })).toBe(before);
  });

  test('becomes null when it is deleted; the photos stay', async () => {
    const [plant, other] = await Promise.all([user.plant(), user.plant()]);
    const photos = await Promise.all([
      user.photo({ plantId: plant.id }),
      user.photo({ plantId: plant.id }),
    ]);
    const kept = await user.photo({ plantId: other.id });
    await user.delete(`/api/plants/${plant.id}`).expect(200);
    for (const photo of photos) {
      expect(await stored(photo.id)).toEqual({ ...photo, plantId: null });
    }
    expect(await stored(kept.id)).toEqual(kept);
  });

  test('can be deleted: the photo can still be cropped and used in events', async () => {
    const [plant, other] = await Promise.all([user.plant(), user.plant()]);
    const photo = await user.photo({ plantId: plant.id });
    await user.delete(`/api/plants/${plant.id}`).expect(200);
    const crop = { x: 0, y: 0, width: 9, height: 9 };
    const cropped = await user.patch(`/api/photos/${photo.id}`, crop).expect(200);
    expect(bodyOf(cropped)['plantId']).toBeNull();
    const event = await user.event(other.id, { photoIds: [photo.id] });
    expect(event['photos']).toEqual([{ ...bodyOf(cropped), plantId: other.id }]);
  });
});

test('reading or cropping a photo that does not exist is 404', async () => {
  const crop = { x: 0, y: 0, width: 1, height: 1 };
  expectError(await user.get(`/api/photos/${NOBODYS_ID}`), 404, 'photo_not_found');
  expectError(await user.patch(`/api/photos/${NOBODYS_ID}`, crop), 404, 'photo_not_found');
});

test('the id of a photo may be in upper case', async () => {
  const photo = await user.photo();
  const response = await user.get(`/api/photos/${photo.id.toUpperCase()}`).expect(200);
  expect(response.body).toEqual(photo);
});
