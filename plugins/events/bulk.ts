import { fieldError } from '../../src/core/errors';
import { anyOf, idText } from '../../src/core/ids';
import { LIVE } from '../../src/data/model/models';
import { insert } from '../../src/data/model/resource';
import type { Transaction } from '../../src/data/writing/transaction';
import { plantArchived, unknownPlant } from '../plants';
import type { EventContext } from './context';
import { unknownEvent } from './errors';
import { newEvent } from './service';
import { viewOf } from './list/present';
import { type EventView, type LogCare, MAX_AT_ONCE, type SeveralPlants } from './schema';

/** Many events in one transaction, all or nothing. */
export class BulkEvents {
  readonly #context: EventContext;

  constructor(context: EventContext) {
    this.#context = context;
  }

  /**
   * Logs the same care of several plants, or of all plants at a location, in the order of the list of plants.
   *
   * @throws ApiError plant_not_found, plant_archived or photo_not_found (400), feature_not_available
   *   over the limit of events, validation_error for a location without plants or with too many
   */
  async log(
    tx: Transaction,
    { plantIds, location, ...body }: LogCare,
  ): Promise<{ items: EventView[] }> {
    const { photos, model, care } = this.#context;
    const ids = await this.#plantsOf(tx, { plantIds, location });
    // There is at least one.
    const [first = ''] = ids;
    const shown = await photos.showIn(tx, first, body.photoIds ?? [], 'photoIds');
    const documents = ids.map((id) => newEvent(tx, id, body));
    await insert(model, tx, documents);
    await care.added(tx, documents);
    return { items: documents.map((each) => viewOf(each, shown)) };
  }

  /** Deletes events softly. @throws ApiError event_not_found (400) if one of them does not exist */
  async delete(tx: Transaction, eventIds: readonly string[]): Promise<void> {
    const { plants, model, care } = this.#context;
    const found = await model
      .find({ ...LIVE, _id: { $in: eventIds } })
      .of(tx)
      .lean();
    const there = await plants.existing(
      tx,
      found.map(({ plantId }) => plantId),
    );
    const live = found.filter(({ plantId }) => there.has(idText(plantId)));
    const liveIds = new Set(live.map(({ _id }) => idText(_id)));
    const missing = eventIds.find((id) => !liveIds.has(id.toLowerCase()));
    if (missing !== undefined) {
      throw unknownEvent.error(`eventIds names an event that does not exist: ${missing}.`);
    }
    const ids = anyOf(live.map(({ _id }) => _id));
    await model.updateMany({ _id: ids }, { $set: { deletedAt: tx.now } }).of(tx);
    await care.changed(
      tx,
      live.map((before) => ({ before })),
    );
  }

  /** @throws ApiError as {@link log} */
  async #plantsOf(tx: Transaction, { plantIds, location }: SeveralPlants): Promise<string[]> {
    const { plants } = this.#context;
    if (plantIds) {
      const there = await plants.idsInOrder(tx, { ids: plantIds, status: 'active' });
      const missing = plantIds.find((id) => !there.includes(id.toLowerCase()));
      if (missing === undefined) return there;
      if (await plants.exists(tx, missing)) {
        throw plantArchived.error(`plantIds names a plant that is archived: ${missing}.`);
      }
      throw unknownPlant.error(`plantIds names a plant that is not yours: ${missing}.`);
    }
    const there = await plants.idsInOrder(tx, { location, status: 'active' });
    if (there.length === 0) throw fieldError('location', 'location has no plants.');
    if (there.length > MAX_AT_ONCE) {
      const message = `location has more than ${MAX_AT_ONCE} plants; name them by plantIds.`;
      throw fieldError('location', message);
    }
    return there;
  }
}
