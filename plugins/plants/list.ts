import { anyOf, idText } from '../../src/core/ids';
import type { Account } from '../../src/core/identity';
import { containing } from '../../src/core/text/text';
import { chunksOf } from '../../src/core/values';
import { batchesOf } from '../../src/data/model/batches';
import type { OwnedModel } from '../../src/data/model/owner';
import { LIST_ORDER } from '../../src/data/model/resource';
import type { Places } from './places';
import { type PlantDocument, type PlantListQuery, STATUSES } from './schema';

/** Plants fetched at once when MongoDB does not sort them. */
const BATCH = 64;

/** The fields by which plants are sorted and searched. */
type Keys = Pick<PlantDocument, 'name' | 'species' | 'lastWatered'>;

const KEYS = ['name', 'species', 'lastWatered'] as const satisfies readonly (keyof Keys)[];

/** Lists of the plants of an account. */
export class PlantLists {
  readonly #model: OwnedModel<PlantDocument>;
  readonly #places: Places;

  constructor(model: OwnedModel<PlantDocument>, places: Places) {
    this.#model = model;
    this.#places = places;
  }

  /**
   * The requested plants in the requested order, a batch at a time.
   *
   * @param fields the fields to read; by default all
   */
  async *batches(
    { id: userId, language }: Account,
    { status, location, q, sort, order }: PlantListQuery,
    fields: readonly string[] = [],
  ): AsyncGenerator<PlantDocument[]> {
    const tenant = { userId };
    const filter = { ...(await this.#places.filter(tenant, location)), ...STATUSES[status] };
    const found = this.#model.find(filter).of(tenant);
    const sign = order === 'asc' ? 1 : -1;
    if (sort === 'createdAt') {
      const sorted = found.select([...fields]).sort({ createdAt: sign, _id: sign });
      for await (const batch of batchesOf<PlantDocument>(sorted)) {
        yield batch.filter(matching(q));
      }
      return;
    }
    // MongoDB supports fewer languages and puts null first. An account has few enough names to sort here.
    const keys = await found
      .select([...KEYS])
      .sort(LIST_ORDER)
      .lean();
    const compare = sort === 'name' ? byName(language, sign) : byLastWatered(sign);
    const ids = keys
      .filter(matching(q))
      .sort(compare)
      .map(({ _id }) => _id);
    for (const some of chunksOf(ids, BATCH)) {
      const plants = this.#model.find({ _id: anyOf(some) }).of(tenant);
      const documents = await plants.select([...fields]).lean();
      const byId = new Map(documents.map((each) => [idText(each._id), each]));
      yield some.flatMap((id) => byId.get(idText(id)) ?? []);
    }
  }
}

function matching(q: string | undefined): (plant: Keys) => boolean {
  if (q === undefined) return () => true;
  const isWanted = containing(q);
  return ({ name, species }) => isWanted(name) || isWanted(species ?? '');
}

type Comparison = (a: Keys, b: Keys) => number;

function byName(language: string, sign: number): Comparison {
  // English is the fallback, not the language of the machine.
  const { compare } = new Intl.Collator([language, 'en']);
  return (a, b) => sign * compare(a.name, b.name);
}

/** Plants that were never watered come last in either order. */
function byLastWatered(sign: number): Comparison {
  return ({ lastWatered: a }, { lastWatered: b }) =>
    a && b ? sign * (a.getTime() - b.getTime()) : Number(!a) - Number(!b);
}
