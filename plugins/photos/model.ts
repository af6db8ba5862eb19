import { Schema } from 'mongoose';

import { defineModel } from '../../src/data/models';
import type { StoredId } from '../../src/ids';

export interface PhotoDocument {
  _id: StoredId;
  userId: string;
  plantId: StoredId | null;
  imagehostPublicId: string;
  secureUrl: string;
  width: number;
  height: number;
  format: string;
  bytes: number;
  cropX: number | null;
  cropY: number | null;
  cropWidth: number | null;
  cropHeight: number | null;
  createdAt: Date;
}

export const photoModel = defineModel<PhotoDocument>({
  name: 'Photo',
  owner: 'account',
  schema: new Schema<PhotoDocument>(
    {
      _id: { type: Schema.Types.UUID, required: true },
      userId: { type: String, required: true },
      plantId: { type: Schema.Types.UUID, default: null },
      imagehostPublicId: { type: String, required: true },
      secureUrl: { type: String, required: true },
      width: { type: Number, required: true },
      height: { type: Number, required: true },
      format: { type: String, required: true },
      bytes: { type: Number, required: true },
      cropX: { type: Number, default: null },
      cropY: { type: Number, default: null },
      cropWidth: { type: Number, default: null },
      cropHeight: { type: Number, default: null },
      createdAt: { type: Date, required: true },
    },
    { collection: 'photos', versionKey: false },
  )
    // The photos of a plant that is removed; counts of an account's photos.
    .index({ userId: 1, plantId: 1 }),
});
