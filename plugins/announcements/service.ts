import { toStoredId } from '../../src/core/ids';
import type { Host } from '../../src/plugins/host';
import { announcementModel } from './model';
import { announcement, type AnnouncementSeed, type AnnouncementView } from './schema';

/** Announcements of operators. */
export class AnnouncementService {
  readonly #announcements;

  constructor(host: Host) {
    this.#announcements = host.model(announcementModel);
  }

  /** The announcements that are active at a moment: enabled, started and not ended. */
  async active(now: Date): Promise<AnnouncementView[]> {
    const active = this.#announcements.find({
      active: true,
      $and: [
        { $or: [{ startDate: null }, { startDate: { $lte: now } }] },
        { $or: [{ endDate: null }, { endDate: { $gte: now } }] },
      ],
    });
    const documents = await active.sort({ _id: 1 }).lean();
    return documents.map((document) => announcement.toView(document));
  }

  /** Adds or updates announcements; returns how many are new. */
  async load(seeds: readonly AnnouncementSeed[]): Promise<number> {
    let added = 0;
    for (const { id, ...seed } of seeds) {
      const { _id, ...set } = announcement.toDocument(seed, { _id: toStoredId(id) });
      const upsert = { upsert: true };
      const loaded = await this.#announcements.updateOne({ _id }, { $set: set }, upsert);
      added += loaded.upsertedCount;
    }
    return added;
  }
}
