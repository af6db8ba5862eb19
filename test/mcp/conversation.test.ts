import type { TestService } from '../support/service';
import { assistant, type Assistant, tool } from './support';
import { startService } from '../support/program';

let service: TestService;
let me: Assistant;

beforeAll(async () => {
  service = await startService();
  me = await assistant(service);
  const watered = async (name: string, ...days: number[]): Promise<void> => {
    const plant = await me.user.plant({ name });
    for (const day of days) {
      await me.user.event(plant.id, {
        occurredAt: `2026-03-${String(day).padStart(2, '0')}T08:00:00Z`,
      });
    }
  };
  await watered('Boston fern', 1, 12);
  await watered('Maidenhair fern', 2, 5);
  await watered('Staghorn fern', 9);
  await watered('Cactus', 1);
});
afterAll(() => service.close());

type Item = Record<string, unknown>;

async function items(name: string, given: object = {}): Promise<Item[]> {
  return (await tool(me, name, given))['items'] as Item[];
}

// Each step uses only the results of earlier ones.
test('an assistant finds the fern watered longest ago, waters it, logs growth, corrects the event and deletes it', async () => {
  const ferns = (await items('list_plants')).filter(({ name }) => /fern/i.test(String(name)));
  const [fern] = ferns.sort(
    (a, b) => Date.parse(String(a['lastWatered'])) - Date.parse(String(b['lastWatered'])),
  );
  expect(fern).toMatchObject({ name: 'Maidenhair fern' });
  const id = fern?.['id'];

  const watering = await tool(me, 'create_event', { id, type: 'watered' });
  expect(watering).toMatchObject({ plantId: id, type: 'watered' });
  expect(await tool(me, 'get_plant', { id })).toMatchObject({
    lastWatered: watering['occurredAt'],
  });

  const photo = await tool(me, 'create_photo', {
    plantId: id,
    imagehostPublicId: 'ferns/maidenhair',
    secureUrl: 'https://images.example.com/ferns/maidenhair.jpg',
    width: 1200,
    height: 900,
    format: 'jpg',
  });
  const growth = await tool(me, 'create_event', {
    id,
    type: 'growth',
    growthAmount: 2,
    growthUnit: 'cm',
    photoIds: [photo['id']],
  });
  expect(growth).toMatchObject({ growthAmount: 2, photos: [{ id: photo['id'] }] });

  await tool(me, 'update_event', { id: growth['id'], growthAmount: 3 });
  const [latest] = await items('list_events', { id, limit: 1 });
  expect(latest).toMatchObject({
    id: growth['id'],
    growthAmount: 3,
    photos: [{ id: photo['id'] }],
  });
  expect(
    (await tool(me, 'get_insights', { sections: 'growthTracking' }))['growthTracking'],
  ).toEqual([expect.objectContaining({ plantId: id, unit: 'cm', total: 3, measurements: 1 })]);

  expect(await tool(me, 'delete_event', { id: latest?.['id'] })).toEqual({ success: true });
  expect((await items('list_events', { id })).map((event) => event['id'])).not.toContain(
    growth['id'],
  );

  const sections = 'overview,wateringStreaks,growthTracking';
  const insights = await tool(me, 'get_insights', { sections });
  expect(insights).toMatchObject({
    overview: { totalPlants: 4, totalEvents: 7, totalPhotos: 1 },
    wateringStreaks: {
      currentStreak: 1,
      lastWateredDate: String(watering['occurredAt']).slice(0, 10),
    },
    growthTracking: [],
  });
});
