import { idText, toStoredId } from '../../src/ids';
import type { Host } from '../../src/plugins/manifest';
import { announcementModel } from './model';
import type { AnnouncementView } from './schema';

export class AnnouncementService {
  readonly #announcements;

  constructor(host: Host) {
    this.#announcements = host.model(announcementModel);
  }

  /** Those that are active at a moment: switched on, begun, and not over. */
  async active(now: Date): Promise<AnnouncementView[]> {
    const documents = await this.#announcements
      .find({
        active: true,
        $and: [
          { $or: [{ startDate: null }, { startDate: { $lte: now } }] },
          { $or: [{ endDate: null }, { endDate: { $gte: now } }] },
        ],
      })
      .sort({ _id: 1 })
      .lean();
    return documents.map(({ _id, ...facts }) => ({ id: idText(_id), ...facts }));
  }

  /** Adds announcements, and brings those that are there already up to date; answers how many are new. */
  async load(seeds: readonly AnnouncementView[]): Promise<number> {
    let added = 0;
    for (const { id, ...facts } of seeds) {
      const { upsertedCount } = await this.#announcements.updateOne(
        { _id: toStoredId(id) },
        { $set: facts },
        { upsert: true },
      );
      added += upsertedCount;
    }
    return added;
  }
}
