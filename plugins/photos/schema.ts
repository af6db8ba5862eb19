import Joi from 'joi';

import type { CreateBody, Document, View } from '../../src/fields/field';
import { id, integer as integerSchema, withFixed, named } from '../../src/fields/joi';
import { page, type PageQuery, pageQuery } from '../../src/fields/page';
import { defineRecord } from '../../src/fields/record';
import { identified, integer, text, timestamp, url, uuid } from '../../src/fields/types';

/** A photo (docs/specification.md, 2.7 and 2.8). */
export const photo = defineRecord({
  ...identified,
  plantId: uuid().optional().createOnly().describe('The plant in the photo'),
  imagehostPublicId: text({ min: 1, max: 512 })
    .createOnly()
    .describe('Id of the image at the image host')
    .example('plants/monstera-1'),
  secureUrl: url(2048)
    .createOnly()
    .describe('URL of the image')
    .example('https://images.example.com/plants/monstera-1.jpg'),
  width: integer(1).createOnly().describe('Width in pixels').example(1600),
  height: integer(1).createOnly().describe('Height in pixels').example(1200),
  format: text({ min: 1, max: 32 })
    .createOnly()
    .describe('Such as jpg, png or webp')
    .example('jpg'),
  bytes: integer(0).default(0).createOnly().describe('Size of the file in bytes'),
  cropX: integer().optional().readOnly(),
  cropY: integer().optional().readOnly(),
  cropWidth: integer().optional().readOnly(),
  cropHeight: integer().optional().readOnly(),
  createdAt: timestamp().readOnly(),
});

/** The view of a photo. */
export const photoView = named('Photo', photo.view);

export type CreatePhoto = CreateBody<typeof photo.fields>;
export type PhotoView = View<typeof photo.fields>;
export type PhotoDocument = Document<typeof photo.fields>;

export interface CropPhoto {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The largest difference between width and height of a crop, in pixels. */
const SQUARE_TOLERANCE = 2;

/** Why a crop does not fit an image, in a sentence; undefined if it does (docs/specification.md, 2.9). */
export function cropFault(
  image: Pick<PhotoDocument, 'width' | 'height'>,
  { x, y, width, height }: CropPhoto,
): string | undefined {
  if (Math.abs(width - height) > SQUARE_TOLERANCE) {
    return 'The width and height of the crop must be within 2 pixels of each other.';
  }
  if (x + width > image.width) {
    return `x plus width must not exceed the image's width of ${image.width}.`;
  }
  return y + height > image.height
    ? `y plus height must not exceed the image's height of ${image.height}.`
    : undefined;
}

/** docs/specification.md, 2.9; `cropFault` checks what depends on the image. */
export const cropPhoto = withFixed(
  Joi.object<CropPhoto, true>({
    x: integerSchema(0).required().description('Left edge in pixels'),
    y: integerSchema(0).required().description('Top edge in pixels'),
    width: integerSchema(1)
      .required()
      .description('Width in pixels, within 2 of the height')
      .example(600),
    height: integerSchema(1)
      .required()
      .description('Height in pixels, within 2 of the width')
      .example(600),
  }),
  photo.fixed,
);

export interface PhotoListQuery extends PageQuery {
  plantId?: string;
}

export const photoListQuery = Joi.object<PhotoListQuery, true>({
  plantId: id().description('Only photos of this plant'),
  ...pageQuery('Photos'),
});

export const photoList = page<PhotoView>(photoView);
