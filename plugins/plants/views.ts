import type { Tenant } from '../../src/data/model/models';
import type { Photos } from '../photos';
import { archivedOf, plant, type PlantDocument, type PlantView } from './schema';

/** What responses show of plants, with their primary photos. */
export class PlantViews {
  readonly #photos: Photos;

  constructor(photos: Photos) {
    this.#photos = photos;
  }

  async ofOne(tenant: Tenant, document: PlantDocument): Promise<PlantView> {
    const [view] = await this.of(tenant, [document]);
    if (!view) throw new Error('One plant was presented as none.');
    return view;
  }

  /** The views of some plants, in their order. */
  async of(tenant: Tenant, documents: readonly PlantDocument[]): Promise<PlantView[]> {
    const ids = documents.flatMap(({ primaryPhotoId }) => primaryPhotoId ?? []);
    const photos = await this.#photos.byIds(tenant, ids);
    return documents.map((document) => {
      const view: PlantView = plant.toView(document);
      const primaryPhoto =
        view.primaryPhotoId === null ? undefined : photos.get(view.primaryPhotoId);
      // Not a copy, which would cost as much as the view itself.
      if (primaryPhoto) view.primaryPhoto = primaryPhoto;
      return document.archivedAt ? Object.assign(view, archivedOf(document)) : view;
    });
  }
}
