import { createHash } from 'node:crypto';

import { type ClientSession, type Filter, MongoClient, type Sort, UUID } from 'mongodb';
import { v7 } from 'uuid';

const DAY_MS = 24 * 60 * 60 * 1000;
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** Days of `careActivityByDay`, today included. */
const ACTIVITY_DAYS = 365;

interface Owned {
  _id: UUID;
  userId: string;
}

interface Plant extends Owned {
  name: string;
  species: string | null;
  primaryPhotoId: UUID | null;
  createdAt: Date;
  updatedAt: Date;
  lastWatered: Date | null;
  lastEvent: Date | null;
}

interface Event extends Owned {
  plantId: UUID;
  type: string;
  text: string | null;
  growthAmount: number | null;
  growthUnit: string | null;
  occurredAt: Date;
  occurredOn: string;
  createdAt: Date;
  updatedAt: Date;
  deletedAt: Date | null;
  photos: { photoId: UUID }[];
}

interface Growth extends Owned {
  plantId: UUID;
  unit: string | null;
  total: string;
  measurements: number;
  first: { on: string };
  last: { on: string };
}

/** The parts of the program's collections that are used here. */
interface Collections {
  accounts: { _id: string; usage: { plants: number } };
  tokens: Owned & { hash: string; revokedAt: Date | null; expiresAt: Date };
  plants: Plant;
  photos: Owned;
  events: Event;
  careMonths: Owned & { month: string; days: Record<string, Record<string, number>> };
  growth: Growth;
}

/** The fields of a new event. */
export interface EventBody {
  type?: string;
  text?: string | null;
  occurredAt?: string;
}

/** The fields of a new plant. */
export interface PlantBody {
  name: string;
  species?: string | null;
}

/** The response of a peer, or a refusal. */
export class Refusal extends Error {
  constructor(readonly status: number) {
    super(`Refused with ${status}.`);
  }
}

/** The responses of a program without a framework: one query for each part, every time, and a
 * transaction for each write. It uses the data of the program itself.
 */
export class Garden {
  readonly #client: MongoClient;

  constructor(uri: string) {
    this.#client = new MongoClient(uri, { maxPoolSize: 50 });
  }

  async connect(): Promise<void> {
    await this.#client.connect();
  }

  /** The account of a token. @throws Refusal */
  async userOf(authorization: string | undefined): Promise<string> {
    const token = authorization?.replace(/^Bearer /, '') ?? '';
    const hash = createHash('sha256').update(token).digest('base64url');
    const found = await this.#collection('tokens').findOne({ hash });
    if (!found || found.revokedAt !== null || found.expiresAt <= new Date()) throw new Refusal(401);
    return found.userId;
  }

  async plants(userId: string): Promise<object[]> {
    const plants = await this.#find('plants', { userId }, { createdAt: 1, _id: 1 });
    return this.#withPhotos(userId, plants);
  }

  async plant(userId: string, id: string): Promise<object> {
    const [plant] = await this.#withPhotos(userId, [await this.#plant(userId, id)]);
    return plant ?? {};
  }

  async events(userId: string, plantId: string, limit: number): Promise<object> {
    await this.#plant(userId, plantId);
    const live = { userId, plantId: new UUID(plantId), deletedAt: null };
    const found = await this.#find('events', live, { occurredAt: -1, _id: 1 }, limit + 1);
    const items = await this.#asEvents(userId, found.slice(0, limit));
    const last = found[limit - 1];
    const hasMore = found.length > limit;
    const place = `${last?.occurredAt.getTime()}.${String(last?._id)}`;
    return {
      items,
      hasMore,
      nextCursor: hasMore ? Buffer.from(place).toString('base64url') : null,
    };
  }

  async month(userId: string, plantId: string, from: Date, to: Date): Promise<object[]> {
    await this.#plant(userId, plantId);
    const live = { userId, plantId: new UUID(plantId), deletedAt: null };
    const occurredAt = { $gte: from, $lte: to };
    const found = await this.#find('events', { ...live, occurredAt }, { occurredAt: -1, _id: 1 });
    return this.#asEvents(userId, found);
  }

  async insights(userId: string): Promise<object> {
    const now = new Date();
    const today = now.toISOString().slice(0, 10);
    const first = dayAt(dayNumber(today) + 1 - ACTIVITY_DAYS);
    const [plants, totals, months, photos, growth] = await Promise.all([
      this.#find('plants', { userId }, { createdAt: 1, _id: 1 }),
      this.#collection('careMonths').findOne({ userId, month: 'all' }),
      this.#find('careMonths', { userId, month: { $lt: 'all' } }, { month: 1 }),
      this.#collection('photos').countDocuments({ userId }),
      this.#find('growth', { userId }, { plantId: 1, unit: 1 }),
    ]);
    const weekdays = WEEKDAYS.map((_, weekday) =>
      Object.values(totals?.days[weekday] ?? {}).reduce((sum, count) => sum + count, 0),
    );
    const totalEvents = weekdays.reduce((sum, count) => sum + count, 0);
    const oldest = plants[0]?.createdAt;
    const counts = activity(months);
    return {
      overview: {
        totalPlants: plants.length,
        totalEvents,
        totalPhotos: photos,
        daysSinceFirstPlant: oldest
          ? Math.floor((now.getTime() - oldest.getTime()) / DAY_MS)
          : null,
        mostActiveDay: WEEKDAYS[weekdays.indexOf(Math.max(...weekdays))] ?? null,
      },
      careActivityByDay: counts.filter(({ date }) => date >= first && date <= today),
      wateringStreaks: streaks(counts, dayNumber(today)),
      speciesDistribution: species(plants),
      growthTracking: plants.flatMap((plant) =>
        growth
          .filter(({ plantId }) => String(plantId) === String(plant._id))
          .map(({ unit, total, measurements, first: begin, last: end }) => ({
            plantId: plant._id,
            plantName: plant.name,
            unit,
            total: Number(total),
            measurements,
            firstDate: begin.on,
            lastDate: end.on,
          })),
      ),
    };
  }

  async createEvent(userId: string, plantId: string, body: EventBody): Promise<object> {
    const now = new Date();
    const occurredAt = body.occurredAt === undefined ? now : new Date(body.occurredAt);
    const { type = 'note', text = null } = body;
    const day = occurredAt.toISOString().slice(0, 10);
    const event: Event = {
      _id: new UUID(v7()),
      userId,
      plantId: new UUID(plantId),
      type,
      text,
      growthAmount: null,
      growthUnit: null,
      occurredAt,
      occurredOn: day,
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
      photos: [],
    };
    await this.#transact(async (session) => {
      const { matchedCount } = await this.#collection('plants').updateOne(
        { _id: event.plantId, userId },
        { $max: { lastEvent: occurredAt } },
        { session },
      );
      if (matchedCount === 0) throw new Refusal(404);
      await this.#collection('events').insertOne(event, { session });
      const count = (month: string, field: string) => ({
        updateOne: {
          filter: { userId, month },
          update: { $inc: { [`days.${field}.${type}`]: 1 } },
          upsert: true,
        },
      });
      await this.#collection('careMonths').bulkWrite(
        [
          count(day.slice(0, 7), day.slice(8, 10)),
          count('all', String((occurredAt.getUTCDay() + 6) % 7)),
        ],
        { session },
      );
    });
    return asEvent(event, new Map());
  }

  async createPlant(userId: string, { name, species }: PlantBody): Promise<object> {
    const now = new Date();
    const set = { _id: new UUID(v7()), userId, createdAt: now, updatedAt: now };
    const never = { primaryPhotoId: null, lastWatered: null, lastEvent: null };
    const plant = { ...set, name, species: species ?? null, ...never };
    await this.#transact(async (session) => {
      const { matchedCount } = await this.#collection('accounts').updateOne(
        { _id: userId, 'usage.plants': { $lt: 1_000_000 } },
        { $inc: { 'usage.plants': 1 } },
        { session },
      );
      if (matchedCount === 0) throw new Refusal(403);
      await this.#collection('plants').insertOne(plant, { session });
    });
    return withId(plant);
  }

  #collection<Name extends keyof Collections>(name: Name) {
    return this.#client.db().collection<Collections[Name]>(name);
  }

  async #find<Name extends keyof Collections>(
    name: Name,
    filter: Filter<Collections[Name]>,
    sort: Sort = {},
    limit = 0,
  ): Promise<Collections[Name][]> {
    const found = await this.#collection(name).find(filter).sort(sort).limit(limit).toArray();
    return found as Collections[Name][]; // The driver adds the `_id` that they have.
  }

  async #plant(userId: string, id: string): Promise<Plant> {
    const found = await this.#collection('plants').findOne({ _id: new UUID(id), userId });
    if (!found) throw new Refusal(404);
    return found;
  }

  async #transact(work: (session: ClientSession) => Promise<void>): Promise<void> {
    const writeConcern = { w: 'majority', journal: true } as const;
    await this.#client.withSession((session) =>
      session.withTransaction(() => work(session), { writeConcern }),
    );
  }

  async #photos(userId: string, ids: UUID[]): Promise<Map<string, object>> {
    if (ids.length === 0) return new Map();
    const found = await this.#find('photos', { _id: { $in: ids }, userId });
    return new Map(found.map((photo) => [String(photo._id), withId(photo)]));
  }

  async #withPhotos(userId: string, plants: readonly Plant[]): Promise<object[]> {
    const photos = await this.#photos(
      userId,
      plants.flatMap(({ primaryPhotoId }) => primaryPhotoId ?? []),
    );
    return plants.map((plant) => {
      const primaryPhoto = photos.get(String(plant.primaryPhotoId));
      return { ...withId(plant), ...(primaryPhoto && { primaryPhoto }) };
    });
  }

  async #asEvents(userId: string, events: readonly Event[]): Promise<object[]> {
    const ids = events.flatMap(({ photos }) => photos.map(({ photoId }) => photoId));
    const photos = await this.#photos(userId, ids);
    return events.map((event) => asEvent(event, photos));
  }
}

/** Fields for internal use are undefined, which JSON leaves out. */
export const INTERNAL = {
  revision: undefined,
  lastFertilized: undefined,
  lastWatering: undefined,
  lastFertilizing: undefined,
  archivedAt: undefined,
  archiveReason: undefined,
};

function withId({ _id, ...document }: Owned): object {
  return { id: _id, ...document, ...INTERNAL };
}

function asEvent(event: Event, found: ReadonlyMap<string, object>): object {
  const photos = event.photos.flatMap(({ photoId }) => found.get(String(photoId)) ?? []);
  return { ...withId(event), deletedAt: undefined, photos };
}

function activity(
  months: readonly Collections['careMonths'][],
): { date: string; type: string; count: number }[] {
  const counts = months.flatMap(({ month, days }) =>
    Object.entries(days).flatMap(([day, types]) =>
      Object.entries(types).map(([type, count]) => ({ date: `${month}-${day}`, type, count })),
    ),
  );
  return counts
    .filter(({ count }) => count > 0)
    .sort((a, b) => compare(a.date, b.date) || compare(a.type, b.type));
}

function streaks(counts: ReturnType<typeof activity>, today: number): object {
  const runs: { last: number; days: number }[] = [];
  for (const { date, type } of counts) {
    if (type !== 'watered') continue;
    const [run, day] = [runs.at(-1), dayNumber(date)];
    if (run?.last === day - 1) Object.assign(run, { last: day, days: run.days + 1 });
    else runs.push({ last: day, days: 1 });
  }
  const last = runs.at(-1);
  return {
    currentStreak: last && last.last >= today - 1 ? last.days : 0,
    longestStreak: Math.max(0, ...runs.map(({ days }) => days)),
    lastWateredDate: last ? dayAt(last.last) : null,
  };
}

function species(plants: readonly { species: string | null }[]): object[] {
  const counts = new Map<string | null, number>();
  for (const { species: name } of plants) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .map(([name, count]) => ({ species: name, count }))
    .sort((a, b) => b.count - a.count || compare(a.species ?? '', b.species ?? ''));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function dayNumber(day: string): number {
  return Date.parse(day) / DAY_MS;
}

function dayAt(number: number): string {
  return new Date(number * DAY_MS).toISOString().slice(0, 10);
}
