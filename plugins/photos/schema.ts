import Joi from 'joi';

import type { CreateBody, Document, PatchBody, View } from '../../src/fields/field';
import {
  id,
  integer as integerSchema,
  named,
  oneOf as oneOfSchema,
  withFixed,
  withKeys,
} from '../../src/fields/joi';
import { page, type PageQuery, pageQuery } from '../../src/fields/page';
import { defineRecord } from '../../src/fields/record';
import {
  identified,
  integer,
  text,
  timestamp,
  timestamps,
  url,
  uuid,
} from '../../src/fields/types';
import { ValidationErrors } from '../../src/fields/validation';

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
  takenAt: timestamp().nullable().describe('When the picture was taken'),
  ...timestamps,
});

/** The view of a photo. */
export const photoView = named('Photo', photo.view);

export type CreatePhoto = CreateBody<typeof photo.fields>;
export type PhotoView = View<typeof photo.fields>;
export type PhotoDocument = Document<typeof photo.fields>;

/** A photo as 1.2.0 stored it. */
type OlderPhoto = Omit<PhotoDocument, 'takenAt' | 'updatedAt'>;

export function viewOf(document: PhotoDocument | OlderPhoto): PhotoView {
  return photo.toView({ takenAt: null, updatedAt: document.createdAt, ...document });
}

export interface CropPhoto {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** `cropOf` checks that a crop is whole. */
export type UpdatePhoto = PatchBody<typeof photo.fields> & Partial<CropPhoto>;

/** The largest difference between width and height of a crop, in pixels. */
const SQUARE_TOLERANCE = 2;

/** The crop in a change, if any. @throws ApiError validation_error unless it is whole */
export function cropOf({ x, y, width, height }: UpdatePhoto): CropPhoto | undefined {
  const given = Object.entries({ x, y, width, height });
  const missing = given.filter(([, value]) => value === undefined);
  if (missing.length === given.length) return undefined;
  const errors = new ValidationErrors();
  for (const [name] of missing) errors.add(name, 'is required in a crop');
  errors.throwIfAny();
  // None is missing.
  return { x, y, width, height } as CropPhoto;
}

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
export const updatePhoto = withFixed(
  withKeys<UpdatePhoto>(photo.patchBody, {
    x: integerSchema(0).description('Left edge in pixels'),
    y: integerSchema(0).description('Top edge in pixels'),
    width: integerSchema(1).description('Width in pixels, within 2 of the height'),
    height: integerSchema(1).description('Height in pixels, within 2 of the width'),
  })
    .or('takenAt', 'x')
    .messages({ 'object.missing': 'takenAt or a crop (x, y, width, height) is required' })
    .example({ takenAt: '2026-03-01T09:30:00Z', x: 0, y: 0, width: 600, height: 600 }),
  photo.fixed,
);

const ORDERS = ['createdAt', 'takenAt'] as const;

export interface PhotoListQuery extends PageQuery {
  sort: (typeof ORDERS)[number];
  plantId?: string;
}

export const photoListQuery = Joi.object<PhotoListQuery, true>({
  sort: oneOfSchema(ORDERS)
    .default('createdAt')
    .description('takenAt: last taken first, photos without it last'),
  plantId: id().description('Only photos of this plant'),
  ...pageQuery('Photos'),
});

export const photoList = page<PhotoView>(photoView);
