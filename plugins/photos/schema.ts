import Joi from 'joi';

import { id, instant, integer, nullable, text } from '../../src/schema';

export interface CreatePhoto {
  plantId?: string;
  imagehostPublicId: string;
  secureUrl: string;
  width: number;
  height: number;
  format: string;
  bytes: number;
}

/** Section 2.8. */
export const createPhoto = Joi.object<CreatePhoto, true>({
  plantId: id().description('The plant it shows'),
  imagehostPublicId: text({ min: 1, max: 1024 })
    .required()
    .description('Identifier of the image at the image host'),
  secureUrl: text({ min: 1, max: 2048 })
    .uri({ scheme: [/[hH][tT][tT][pP][sS]?/] })
    .meta({ jsonSchema: { pattern: '^[hH][tT][tT][pP][sS]?://[^/?#]' } })
    .required()
    .description('Where the image can be fetched'),
  width: integer(1).required().description('Width in pixels'),
  height: integer(1).required().description('Height in pixels'),
  format: text({ min: 1, max: 100 }).required().description('Format such as jpg, png or webp'),
  bytes: integer(0).default(0).description('Size of the file in bytes'),
});

export interface CropPhoto {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Section 2.9; what depends on the image is checked where the image is known. */
export const cropPhoto = Joi.object<CropPhoto, true>({
  x: integer(0).required().description('Left edge in pixels'),
  y: integer(0).required().description('Top edge in pixels'),
  width: integer(1).required().description('Width in pixels, within 2 of the height'),
  height: integer(1).required().description('Height in pixels, within 2 of the width'),
});

export interface PhotoView {
  id: string;
  userId: string;
  plantId: string | null;
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

/** Section 2.7. */
export const photo = Joi.object<PhotoView, true>({
  id: id().required(),
  userId: text().required(),
  plantId: nullable(id()).required(),
  imagehostPublicId: text().required(),
  secureUrl: text().required(),
  width: integer().required(),
  height: integer().required(),
  format: text().required(),
  bytes: integer().required(),
  cropX: nullable(integer()).required(),
  cropY: nullable(integer()).required(),
  cropWidth: nullable(integer()).required(),
  cropHeight: nullable(integer()).required(),
  createdAt: instant().required(),
});
