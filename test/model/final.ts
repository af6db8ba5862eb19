import type { Actor } from './actor';
import { expectDueCare } from './care-commands';
import { expectEvents } from './event-commands';
import { expectInsights } from './read-insights';

/** How many records of each kind are requested that belong to others or were deleted. */
const OTHERS = 4;

/** Compares all readable data of an account, and expects data of others to be unreadable. */
export async function expectEverything(actor: Actor): Promise<void> {
  const { garden, world } = actor;
  const others = (kind: 'plants' | 'photos' | 'events') =>
    world.known[kind].filter((id) => !garden[kind].has(id)).slice(-OTHERS);
  await actor.expect('GET', '/api/plants', undefined, () => garden.listPlants());
  await actor.expect('GET', '/api/locations', undefined, () => garden.locations());
  await expectInsights(actor);
  await expectDueCare(actor);
  await actor.expectCopy();
  for (const id of garden.plants.keys()) await expectEvents(actor, id, 2);
  for (const id of others('plants')) {
    await actor.expect('GET', `/api/plants/${id}`, undefined, () => garden.readPlant(id));
    await expectEvents(actor, id);
  }
  for (const id of [...garden.photos.keys(), ...others('photos')]) {
    await actor.expect('GET', `/api/photos/${id}`, undefined, () => garden.readPhoto(id));
  }
  for (const id of others('events')) {
    await actor.expect('DELETE', `/api/events/${id}`, undefined, () => garden.deleteEvent(id));
  }
}
