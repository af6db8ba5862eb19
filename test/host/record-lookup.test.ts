import type { PlantDocument } from '../../plugins/plants/schema';
import type { StoredId } from '../../src/core/ids';
import type { TestService, TestUser } from '../support/service';
import { plantModel, newId, toStoredId, RecordLookup, startService } from '../support/program';

let service: TestService;

beforeAll(async () => {
  service = await startService({ env: { ANSWER_CACHE_MB: '0' } });
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

/** A look-up of plants that counts its queries. */
function countedLookup() {
  const records = service.app.database.records(plantModel);
  const queries: string[] = [];
  const lookup = new RecordLookup<PlantDocument>({
    find: (...given) => {
      queries.push('of one account');
      return records.find(...given);
    },
    findAcrossAccounts: (...given) => {
      queries.push('of several');
      return records.findAcrossAccounts(...given);
    },
  });
  const namesOf = async (user: TestUser, ids: readonly StoredId[]) =>
    (await lookup.find({ userId: user.id }, ids)).map(({ name }) => name);
  return { queries, namesOf };
}

test('of records that several accounts ask for together each gets its own, and no others', async () => {
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

test('what several accounts look up together is one query', async () => {
  const gardens = await withPlants(5);
  const { queries, namesOf } = countedLookup();
  const found = await Promise.all(
    gardens.map(({ user, id }, index) => {
      const foreign = gardens[(index + 1) % gardens.length]?.id ?? '';
      return namesOf(user, [toStoredId(foreign), newId(), toStoredId(id)]);
    }),
  );
  expect(found).toEqual(gardens.map(({ user }) => [user.id]));
  expect(queries).toEqual(['of several']);
});

test('what one account looks up names it alone, and much of it shares no query', async () => {
  const [garden] = await withPlants(1);
  if (!garden) throw new Error('There is no garden.');
  const { user, id } = garden;
  const { queries, namesOf } = countedLookup();
  const many = [toStoredId(id), ...Array.from({ length: 20 }, newId)];
  const found = await Promise.all([many, [toStoredId(id)], many].map((ids) => namesOf(user, ids)));
  expect(found).toEqual([[user.id], [user.id], [user.id]]);
  expect(queries).toEqual(['of one account', 'of one account', 'of one account']);
});

test('what an account has just deleted is not there any more', async () => {
  const gardens = await withPlants(6);
  await Promise.all(
    gardens.map(async ({ user, id }) => {
      await user.get(`/api/plants/${id}`).expect(200);
      await user.delete(`/api/plants/${id}`).expect(200);
      await user.get(`/api/plants/${id}`).expect(404);
    }),
  );
});
