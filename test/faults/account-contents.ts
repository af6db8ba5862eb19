import { mongo } from 'mongoose';

import { type Client, record, records } from '../support/client';
import { until } from '../support/processes';

type Fields = Record<string, unknown>;

/** The contents of an account in words, without ids and times, which differ each time. */
export interface Held {
  plants: string[];
  events: string[];
  photos: string[];
  /** The care of plants, and its due day. */
  due: string[];
  timezone: string;
  /** Its usage. */
  used: { plants: number; photos: number };
}

/** The contents of an account as the API shows them; retries while it responds with 503. */
export async function heldBy(client: Client): Promise<Held> {
  const [plants, events, photos, care, account] = await Promise.all([
    read(client, '/api/plants'),
    read(client, '/api/events?limit=100'),
    read(client, '/api/photos?limit=100'),
    read(client, '/api/care?dueBy=9999-12-31'),
    read(client, '/api/account'),
  ]);
  const { limits, timezone } = record(account);
  const used = (what: string) => Number(record(record(limits)[what])['used']);
  return {
    plants: records(plants).map(plantText).sort(),
    events: itemsOf(events).map(eventText).sort(),
    photos: itemsOf(photos).map(photoText).sort(),
    due: itemsOf(care).map((item) => textOf(item, 'plantName', 'type', 'dueOn')),
    timezone: String(timezone),
    used: { plants: used('plants'), photos: used('photos') },
  };
}

async function read(client: Client, path: string): Promise<unknown> {
  let answer: { status: number; body: unknown } | undefined;
  await until(async () => (answer = await client.send('GET', path)).status !== 503);
  if (answer?.status === 200) return answer.body;
  throw new Error(`GET ${path}: ${JSON.stringify(answer)}`);
}

function itemsOf(list: unknown): Fields[] {
  return records(record(list)['items']);
}

function textOf(fields: Fields, ...names: readonly string[]): string {
  return names.map((name) => String(fields[name])).join(' ');
}

function plantText(plant: Fields): string {
  const { location, primaryPhoto: photo } = plant;
  const name =
    textOf(plant, 'name') + (location === null ? '' : ` in ${textOf(plant, 'location')}`);
  return name + (photo === undefined ? '' : ` with ${imageOf(record(photo))}`);
}

function eventText(event: Fields): string {
  const photos = records(event['photos']).map((photo) => ` with ${imageOf(photo)}`);
  return textOf(event, 'type', 'text') + photos.join('');
}

function photoText(photo: Fields): string {
  const of = photo['plantId'] === null ? 'no plant' : 'a plant';
  const crop = textOf(photo, 'cropX', 'cropY', 'cropWidth', 'cropHeight');
  return `${imageOf(photo)} of ${of}${photo['cropX'] === null ? '' : `, cropped ${crop}`}`;
}

function imageOf(photo: Fields): string {
  return textOf(photo, 'imagehostPublicId');
}

/** The number of records of an account in each collection. */
export async function storedOf(
  mongodbUri: string,
  userId: string,
): Promise<Record<string, number>> {
  const client = await new mongo.MongoClient(mongodbUri).connect();
  const counts = (await client.db().collections()).map(
    async (collection): Promise<[string, number]> => [
      collection.collectionName,
      await collection.countDocuments({ userId }),
    ],
  );
  const stored = (await Promise.all(counts)).filter(([, count]) => count > 0);
  await client.close();
  return Object.fromEntries(stored);
}
