import { type Ids, kindOf, operationRows, validRequest } from './operations';
import type { TestService, TestUser } from './service';

const rows = operationRows();

/** A record of each kind of a user, also of kinds that a plugin of tomorrow adds. */
export async function gardenOf(user: TestUser): Promise<Ids> {
  const photo = await user.photo();
  const plant = await user.plant({ primaryPhotoId: photo.id, location: 'Hall' });
  const event = await user.event(plant.id, { photoIds: [photo.id], text: 'Kept' });
  const ids: Record<string, string> = { plant: plant.id, event: event.id, photo: photo.id };
  for (const [, operation] of rows) {
    const [parameter] = Object.keys(operation.params ?? {});
    const kind = parameter === undefined ? '' : kindOf(operation, parameter);
    const list = operation.path.replace(/\/\{\w+\}$/, '');
    const [, create] = rows.find(([name]) => name === `POST ${list}`) ?? [];
    if (kind === '' || kind in ids || !create) continue;
    const { path, body } = validRequest(create, ids);
    const made = await user.post(path, body).expect(201);
    ids[kind] = String((made.body as { id: unknown }).id);
  }
  return ids;
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
