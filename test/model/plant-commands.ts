import fc from 'fast-check';

import { command, commandOn, reference, words } from './command';
import { expectInsights } from './read-insights';

const days = fc.integer({ min: 1, max: 365 });
const details = {
  species: fc.constantFrom('Monstera deliciosa', 'Ficus', ''),
  location: words(100),
  notes: words(1000),
  wateringFrequencyDays: days,
  wateringNotes: words(500),
  lightRequirement: fc.constantFrom('low', 'medium', 'bright_indirect', 'full_sun'),
  lightNotes: words(500),
  soilType: words(100),
  potType: fc.constantFrom('plastic', 'terracotta', 'ceramic', 'fabric', 'other'),
  fertilizerType: words(100),
  fertilizerFrequencyDays: days,
  fertilizerNotes: words(500),
  humidityPreference: fc.constantFrom('low', 'medium', 'high'),
  temperatureNotes: words(500),
  careNotes: words(1000),
};
const essentials = {
  name: words(100).map((name) => name || 'Fern'),
  mossPoleNeeded: fc.boolean(),
  toxic: fc.boolean(),
};
const orNull = Object.fromEntries(
  Object.entries(details).map(([name, value]) => [name, fc.option<unknown>(value)]),
);

/** Commands on plants; those that create or change one come first. */
export const plantCommands = [
  command(
    'create plant',
    fc.record({
      body: fc.record({ ...essentials, ...details }, { requiredKeys: ['name'] }),
      photo: fc.option(reference),
      again: fc.boolean(),
    }),
    async (actor, { body, photo, again }) => {
      const { garden } = actor;
      // The order of errors for a reached limit and an unknown photo is unspecified.
      const isFull = garden.plants.size >= garden.account.maxPlants;
      const full = photo && !isFull ? { ...body, primaryPhotoId: actor.id('photos', photo) } : body;
      await actor.create('plants', '/api/plants', full, again, (made) =>
        garden.createPlant(full, made),
      );
    },
  ),
  commandOn(
    'update plant',
    'plants',
    fc.record({
      changes: fc.oneof(
        fc.constant({}),
        fc.record({ ...essentials, ...orNull }, { requiredKeys: [] }),
      ),
      photo: fc.oneof(fc.constant(undefined), fc.constant(null), reference),
    }),
    (actor, id, { changes, photo }) => {
      const isOwn = actor.owns('plants', id);
      const primaryPhotoId = photo && isOwn ? actor.id('photos', photo) : photo && null;
      const body = primaryPhotoId === undefined ? changes : { ...changes, primaryPhotoId };
      return actor.expect('PATCH', `/api/plants/${id}`, body, (made) =>
        actor.garden.updatePlant(id, body, made),
      );
    },
  ),
  commandOn('read plant', 'plants', fc.constant(null), (actor, id) =>
    actor.expect('GET', `/api/plants/${id}`, undefined, () => actor.garden.readPlant(id)),
  ),
  command('list plants', fc.constant(null), (actor) =>
    actor.expect('GET', '/api/plants', undefined, () => actor.garden.listPlants()),
  ),
  command('list locations', fc.constant(null), (actor) =>
    actor.expect('GET', '/api/locations', undefined, () => actor.garden.locations()),
  ),
] as const;

const pixels = fc.integer({ min: 50, max: 400 });
/** Deletes a plant; rare, so that gardens grow. */
export const deletePlant = commandOn(
  'delete plant',
  'plants',
  fc.constant(null),
  async (actor, id) => {
    await actor.expect('DELETE', `/api/plants/${id}`, undefined, () =>
      actor.garden.deletePlant(id),
    );
    // Correct at once, although a job finishes the deletion later.
    await expectInsights(actor);
  },
);

/** Commands on photos; the one that creates one comes first. */
export const photoCommands = [
  command(
    'create photo',
    fc.record({
      body: fc.record(
        {
          imagehostPublicId: words(50).map((text) => text || 'garden/fern'),
          secureUrl: fc.webUrl({ validSchemes: ['http', 'https'] }),
          width: pixels,
          height: pixels,
          format: fc.constantFrom('jpg', 'png'),
          bytes: fc.nat(),
        },
        { requiredKeys: ['imagehostPublicId', 'secureUrl', 'width', 'height', 'format'] },
      ),
      plant: fc.option(reference),
      again: fc.boolean(),
    }),
    async (actor, { body, plant, again }) => {
      const { garden } = actor;
      const isFull = garden.photos.size >= garden.account.maxPhotos;
      const plantId = plant && !isFull ? actor.id('plants', plant) : undefined;
      const full = plantId === undefined ? body : { ...body, plantId };
      await actor.create('photos', '/api/photos', full, again, (made) =>
        garden.createPhoto(full, made),
      );
    },
  ),
  commandOn('read photo', 'photos', fc.constant(null), (actor, id) =>
    actor.expect('GET', `/api/photos/${id}`, undefined, () => actor.garden.readPhoto(id)),
  ),
  commandOn(
    'crop photo',
    'photos',
    fc.record({
      x: fc.nat(60),
      y: fc.nat(60),
      width: fc.integer({ min: 1, max: 200 }),
      off: fc.nat(4),
    }),
    (actor, id, { x, y, width, off }) => {
      const crop = { x, y, width, height: Math.max(1, width + off - 2) };
      return actor.expect('PATCH', `/api/photos/${id}`, crop, (made) =>
        actor.garden.cropPhoto(id, crop, made),
      );
    },
  ),
] as const;
