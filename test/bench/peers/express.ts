/** The peer on Express with Mongoose: documents, `populate`, and no transactions. */
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';

import express, { type ErrorRequestHandler } from 'express';
import mongoose, { Schema } from 'mongoose';
import { v7 } from 'uuid';

import { type EventBody, Garden, INTERNAL, type PlantBody, Refusal } from './garden';

const uri = process.argv[2] ?? '';
const UUID = Schema.Types.UUID;
const options = { versionKey: false, strict: false } as const;

const Token = mongoose.model(
  'Token',
  new Schema({ _id: UUID, userId: String, hash: String, revokedAt: Date, expiresAt: Date }),
  'tokens',
);
const Photo = mongoose.model('Photo', new Schema({ _id: UUID, plantId: UUID }, options), 'photos');
const Plant = mongoose.model(
  'Plant',
  new Schema(
    {
      _id: UUID,
      userId: String,
      name: String,
      species: String,
      primaryPhotoId: { type: UUID, ref: Photo },
      createdAt: Date,
      updatedAt: Date,
      lastWatered: Date,
      lastEvent: Date,
    },
    options,
  ),
  'plants',
);
const Event = mongoose.model(
  'Event',
  new Schema(
    {
      _id: UUID,
      userId: String,
      plantId: UUID,
      type: String,
      text: String,
      growthAmount: Number,
      growthUnit: String,
      occurredAt: Date,
      occurredOn: String,
      createdAt: Date,
      updatedAt: Date,
      deletedAt: Date,
      photos: [{ _id: false, photoId: { type: UUID, ref: Photo } }],
    },
    options,
  ),
  'events',
);

/** The fields of a populated document. */
interface Shown {
  _id: unknown;
}

interface ShownPlant extends Shown {
  primaryPhotoId: Shown | null;
}

interface ShownEvent extends Shown {
  photos: { photoId: Shown }[];
}

function withId({ _id, ...document }: Shown): object {
  return { id: _id, ...document, ...INTERNAL };
}

function asPlant(plant: ShownPlant): object {
  const { primaryPhotoId: photo } = plant;
  if (photo === null) return withId(plant);
  return { ...withId(plant), primaryPhotoId: photo._id, primaryPhoto: withId(photo) };
}

function asEvent(event: ShownEvent): object {
  const photos = event.photos.map(({ photoId }) => withId(photoId));
  return { ...withId(event), deletedAt: undefined, photos };
}

/** Events of a plant, newest first, with their photos. */
async function events(filter: object, limit = 0): Promise<object[]> {
  const found = await Event.find({ deletedAt: null, ...filter })
    .sort({ occurredAt: -1, _id: 1 })
    .limit(limit)
    .populate('photos.photoId');
  // Population has put the photos where their ids were.
  return found.map((event) => asEvent(event.toObject() as unknown as ShownEvent));
}

async function requirePlant(userId: string, id: string): Promise<void> {
  if (!(await Plant.exists({ _id: id, userId }))) throw new Refusal(404);
}

const garden = new Garden(uri);
const app = express();
app.use(express.json());
app.use(async (request, response, next) => {
  const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
  const hash = createHash('sha256').update(token).digest('base64url');
  const found = await Token.findOne({ hash, revokedAt: null, expiresAt: { $gt: new Date() } });
  if (!found) throw new Refusal(401);
  response.locals['userId'] = found.userId;
  next();
});
const ownerOf = ({ locals }: { locals: Record<string, unknown> }): string =>
  String(locals['userId']);

app.get('/api/plants', async (_request, response) => {
  const found = await Plant.find({ userId: ownerOf(response) })
    .sort({ createdAt: 1, _id: 1 })
    .populate('primaryPhotoId');
  // As in `events`.
  response.json(found.map((plant) => asPlant(plant.toObject() as unknown as ShownPlant)));
});
app.get('/api/plants/:id', async (request, response) => {
  const { id } = request.params;
  const found = await Plant.findOne({ _id: id, userId: ownerOf(response) }).populate(
    'primaryPhotoId',
  );
  if (!found) throw new Refusal(404);
  // As in `events`.
  response.json(asPlant(found.toObject() as unknown as ShownPlant));
});
app.get('/api/plants/:id/events', async (request, response) => {
  const limit = Number(request.query['limit'] ?? 15);
  const userId = ownerOf(response);
  const plantId = request.params.id;
  await requirePlant(userId, plantId);
  const found = await events({ userId, plantId }, limit + 1);
  const items = found.slice(0, limit);
  const hasMore = found.length > limit;
  response.json({ items, hasMore, nextCursor: hasMore ? String(limit) : null });
});
app.get('/api/plants/:id/events/month', async (request, response) => {
  const { monthStart, monthEnd } = request.query;
  const occurredAt = { $gte: new Date(Number(monthStart)), $lte: new Date(Number(monthEnd)) };
  const userId = ownerOf(response);
  const plantId = request.params.id;
  await requirePlant(userId, plantId);
  response.json(await events({ userId, plantId, occurredAt }));
});
// Mongoose does not make totals easier.
app.get('/api/insights', async (_request, response) => {
  response.json(await garden.insights(ownerOf(response)));
});
app.post('/api/plants/:id/events', async (request, response) => {
  const { type = 'note', text = null, occurredAt = new Date() } = request.body as EventBody; // As sent.
  const plantId = request.params.id;
  const moved = await Plant.updateOne(
    { _id: plantId, userId: ownerOf(response) },
    { $max: { lastEvent: occurredAt } },
  );
  if (moved.matchedCount === 0) throw new Refusal(404);
  const ids = { _id: v7(), userId: ownerOf(response), plantId };
  const dates = { occurredAt, createdAt: new Date(), updatedAt: new Date(), deletedAt: null };
  const event = await Event.create({ ...ids, ...dates, type, text, photos: [] });
  response.status(201).json(withId(event.toObject()));
});
app.post('/api/plants', async (request, response) => {
  const { name, species = null } = request.body as PlantBody; // As above.
  const dates = { createdAt: new Date(), updatedAt: new Date() };
  const ids = { _id: v7(), userId: ownerOf(response) };
  const plant = await Plant.create({ ...ids, ...dates, name, species });
  response.status(201).json(withId(plant.toObject()));
});
const onError: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) {
    next(error);
    return;
  }
  response.status(error instanceof Refusal ? error.status : 500).json({ error: String(error) });
};
app.use(onError);

void Promise.all([mongoose.connect(uri), garden.connect()]).then(() => {
  const server = app.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo; // It listens on TCP.
    process.stdout.write(`ready at http://127.0.0.1:${port}\n`);
  });
});
