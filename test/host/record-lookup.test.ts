import type { PlantDocument } from '../../plugins/plants/schema';
import type { StoredId } from '../../src/core/ids';
import { queriesOf } from '../support/profiler';
import type { TestService, TestUser } from '../support/service';
import { plantModel, newId, toStoredId, RecordLookup, startService } from '../support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService({ jobs: false, env: { ANSWER_CACHE_MB: '0' } });
});
afterAll(() => service.close());

async function withPlants(count: number): Promise<{ user: TestUser; id: string }[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const user = await service.user();
      const { id } = await user.plant({ name: user.id });
      return { user, id };
    }),
  );
}

/** The plants that a look-up finds, and its queries. */
async function lookedUp(asked: readonly { user: TestUser; ids: readonly StoredId[] }[]) {
  const lookup = new RecordLookup<PlantDocument>(service.app.database.model(plantModel));
  let found: string[][] = [];
  const queries = await queriesOf(service, async () => {
    found = await Promise.all(
      asked.map(async ({ user, ids }) =>
        (await lookup.find({ userId: user.id }, ids)).map(({ name }) => name),
      ),
    );
  });
  return { found, queries: queries.filter(({ collection }) => collection === 'plants') };
}

test('accounts that look up records together each get only their own', async () => {
  const gardens = await withPlants(6);
  await Promise.all(
    gardens.flatMap(({ user }) =>
      gardens.map(async (other) => {
        const plant = await user.get(`/api/plants/${other.id}`);
        const events = await user.get(`/api/plants/${other.id}/events`);
        const isOwn = other.user === user;
        expect([plant.status, events.status]).toEqual(isOwn ? [200, 200] : [404, 404]);
        if (isOwn) expect(plant.body).toMatchObject({ id: other.id, name: user.id });
      }),
    ),
  );
});

test('concurrent look-ups of several accounts share one query', async () => {
  const gardens = await withPlants(5);
  const { found, queries } = await lookedUp(
    gardens.map(({ user, id }, index) => {
      const foreign = gardens[(index + 1) % gardens.length]?.id ?? '';
      return { user, ids: [toStoredId(foreign), newId(), toStoredId(id)] };
    }),
  );
  expect(found).toEqual(gardens.map(({ user }) => [user.id]));
  expect(queries).toHaveLength(1);
});

test('a large look-up of one account does not share a query', async () => {
  const [garden] = await withPlants(1);
  if (!garden) throw new Error('There is no garden.');
  const { user, id } = garden;
  const many = [toStoredId(id), ...Array.from({ length: 20 }, newId)];
  const asked = [many, [toStoredId(id)], many].map((ids) => ({ user, ids }));
  const { found, queries } = await lookedUp(asked);
  expect(found).toEqual([[user.id], [user.id], [user.id]]);
  expect(queries).toHaveLength(3);
});

test('a record that was just deleted is not found', async () => {
  const gardens = await withPlants(6);
  await Promise.all(
    gardens.map(async ({ user, id }) => {
      await user.get(`/api/plants/${id}`).expect(200);
      await user.delete(`/api/plants/${id}`).expect(200);
      await user.get(`/api/plants/${id}`).expect(404);
    }),
  );
});
