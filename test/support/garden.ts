import type { Ids } from './operations';
import type { TestService, TestUser } from './service';

/** A record of each kind of a user. */
export async function gardenOf(user: TestUser): Promise<Ids> {
  const photo = await user.photo();
  const plant = await user.plant({ primaryPhotoId: photo.id, location: 'Hall' });
  const event = await user.event(plant.id, { photoIds: [photo.id], text: 'Kept' });
  return { plant: plant.id, event: event.id, photo: photo.id };
}

/** All that is stored, as text; when a token was last used is left out, since reading moves it. */
export async function everythingStored(service: TestService): Promise<Record<string, string[]>> {
  const { db } = service.app.database.connection;
  const collections = (await db?.collections()) ?? [];
  const dumps = collections.map(async (collection) => {
    const documents = await collection.find({}, { projection: { lastUsedAt: 0 } }).toArray();
    const texts = documents.map((document) => JSON.stringify(document)).sort();
    return [collection.collectionName, texts] as const;
  });
  return Object.fromEntries(await Promise.all(dumps));
}
