import { Client } from '../../../test/support/client';
import { changesSince, Copy, listed } from '../../../test/support/copy';
import type { TestService, TestUser } from '../../../test/support/service';
import { bodyOf } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  user = await service.user();
});
afterAll(() => service.close());

interface Shown {
  plant: string;
  /** The photo as a response shows it. */
  photo: unknown;
}

/** Requests that make a plant show a photo. */
const WAYS: Record<string, (photoId: string) => Promise<Shown>> = {
  'a new plant has as its primary photo': async (photoId) => {
    const plant = await user.plant({ primaryPhotoId: photoId });
    return { plant: plant.id, photo: plant['primaryPhoto'] };
  },
  'a plant gets as its primary photo': async (photoId) => {
    const { id } = await user.plant();
    const body = { primaryPhotoId: photoId };
    const plant = bodyOf(await user.patch(`/api/plants/${id}`, body).expect(200));
    return { plant: id, photo: plant['primaryPhoto'] };
  },
  'a new event has': async (photoId) => {
    const { id } = await user.plant();
    return { plant: id, photo: first((await user.event(id, { photoIds: [photoId] }))['photos']) };
  },
  'an event gets': async (photoId) => {
    const { id } = await user.plant();
    const event = await user.event(id);
    const body = { photoIds: [photoId] };
    const after = bodyOf(await user.patch(`/api/events/${event.id}`, body).expect(200));
    return { plant: id, photo: first(after['photos']) };
  },
  'events of several plants have, the first of them': async (photoId) => {
    const plants = [await user.plant({ location: 'Attic' }), await user.plant()];
    const plantIds = plants.map(({ id }) => id).reverse();
    const body = { plantIds, photoIds: [photoId] };
    const { items } = bodyOf(await user.post('/api/events', body).expect(201));
    const [one, other] = items as Record<string, unknown>[]; // The events of both plants.
    expect(other?.['photos']).toEqual(one?.['photos']);
    return { plant: plants[0]?.id ?? '', photo: first(one?.['photos']) };
  },
  'an event has that is restored': async (photoId) => {
    const [owner, { id }] = [await user.plant({ primaryPhotoId: photoId }), await user.plant()];
    const event = await user.event(id, { photoIds: [photoId] });
    await user.delete(`/api/events/${event.id}`).expect(200);
    await user.delete(`/api/plants/${owner.id}`).expect(200);
    const restored = bodyOf(await user.post(`/api/events/${event.id}/restore`).expect(200));
    return { plant: id, photo: first(restored['photos']) };
  },
};

function first(list: unknown): unknown {
  return (list as unknown[])[0]; // Photos of an event.
}

describe.each(Object.entries(WAYS))('a photo without a plant that %s', (_name, show) => {
  test('is assigned to the plant at once', async () => {
    const uploaded = await user.photo();
    const { plant, photo } = await show(uploaded.id);
    expect(photo).toEqual({ ...uploaded, plantId: plant });
    const { items } = bodyOf(await user.get(`/api/photos?plantId=${plant}`).expect(200));
    expect(items).toEqual([photo]);
  });

  test('is sent to copies again, and so are the records that embed it', async () => {
    const client = new Client(service.url, user.token);
    const uploaded = await user.photo();
    const copy = new Copy();
    await copy.sync(client);
    await show(uploaded.id);
    expect((await changesSince(client, copy.cursor)).photos).toMatchObject([{ id: uploaded.id }]);
    await copy.sync(client);
    expect(copy.contents).toEqual(await listed(client, [uploaded.id]));
    client.close();
  });
});

test('a photo of a plant stays with that plant, whatever else uses it', async () => {
  const { id: plantId } = await user.plant();
  const photo = await user.photo({ plantId });
  const other = await user.plant({ primaryPhotoId: photo.id });
  await user.event(other.id, { photoIds: [photo.id] });
  expect(bodyOf(await user.get(`/api/photos/${photo.id}`).expect(200))).toEqual(photo);
});

test('a refused request assigns no photo to a plant', async () => {
  const photo = await user.photo();
  const { id } = await user.plant();
  const photoIds = [photo.id, '00000000-0000-4000-8000-000000000000'];
  await user.post(`/api/plants/${id}/events`, { photoIds }).expect(400);
  expect(bodyOf(await user.get(`/api/photos/${photo.id}`).expect(200))).toEqual(photo);
});
