import { anyOf, idText, toStoredId } from '../../src/core/ids';
import { fieldError } from '../../src/core/errors';
import { LIVE } from '../../src/data/models';
import type { Transaction } from '../../src/data/transaction';
import type { Host } from '../../src/plugins/host';
import type { Photos } from '../photos';
import { type Plants, unknownPlant } from '../plants';
import { CareChanges } from './derived/care-changes';
import { unknownEvent } from './errors';
import { eventModel } from './model';
import { newEvent } from './new-event';
import { event, type EventView, type LogCare, MAX_AT_ONCE, type SeveralPlants } from './schema';

/** What is done with many events in one transaction: all of it, or nothing. */
export class BulkEvents {
  readonly #events;
  readonly #plants: Plants;
  readonly #photos: Photos;
  readonly #changes: CareChanges;

  constructor(host: Host, plants: Plants, photos: Photos) {
    this.#plants = plants;
    this.#photos = photos;
    this.#events = host.records(eventModel);
    this.#changes = new CareChanges(this.#events, plants);
  }

  /**
   * Logs the same care of several plants, or of all at a location, in the order of the list of plants.
   *
   * @throws ApiError plant_not_found or photo_not_found (400), feature_not_available over the limit
   *   of events, validation_error for a location without plants or with too many
   */
  async log(
    tx: Transaction,
    { plantIds, location, ...body }: LogCare,
  ): Promise<{ items: EventView[] }> {
    const ids = await this.#plantsOf(tx, { plantIds, location });
    // There is at least one.
    const [first = ''] = ids;
    const photos = await this.#photos.showIn(tx, first, body.photoIds ?? [], 'photoIds');
    const documents = ids.map((id) => newEvent(tx, id, body));
    await this.#events.insertBulk(tx, documents);
    await this.#changes.added(tx, documents);
    return { items: documents.map((each) => ({ ...event.toView(each), photos })) };
  }

  /** Deletes events softly. @throws ApiError event_not_found (400) where one of them is not there */
  async delete(tx: Transaction, eventIds: readonly string[]): Promise<void> {
    const ids = eventIds.map(toStoredId);
    const found = await this.#events.find(tx, { ...LIVE, _id: { $in: ids } });
    const there = await this.#plants.existing(
      tx,
      found.map(({ plantId }) => plantId),
    );
    const live = found.filter(({ plantId }) => there.has(idText(plantId)));
    const liveIds = new Set(live.map(({ _id }) => idText(_id)));
    const missing = eventIds.find((id) => !liveIds.has(id.toLowerCase()));
    if (missing !== undefined) {
      throw unknownEvent.error(`eventIds names an event that is not there: ${missing}.`);
    }
    await this.#events.softDelete(tx, { _id: anyOf(live.map(({ _id }) => _id)) });
    await this.#changes.changed(
      tx,
      live.map((before) => ({ before })),
    );
  }

  /** @throws ApiError as {@link log} */
  async #plantsOf(tx: Transaction, { plantIds, location }: SeveralPlants): Promise<string[]> {
    if (plantIds) {
      const there = await this.#plants.idsInOrder(tx, { ids: plantIds });
      const missing = plantIds.find((id) => !there.includes(id.toLowerCase()));
      if (missing === undefined) return there;
      throw unknownPlant.error(`plantIds names a plant that is not yours: ${missing}.`);
    }
    const there = await this.#plants.idsInOrder(tx, { location });
    if (there.length === 0) throw fieldError('location', 'location has no plants.');
    if (there.length > MAX_AT_ONCE) {
      const message = `location has more than ${MAX_AT_ONCE} plants; name them by plantIds.`;
      throw fieldError('location', message);
    }
    return there;
  }
}
