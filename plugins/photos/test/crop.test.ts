import type { TestService, TestUser } from '../../../test/support/service';
import { anyInstant, expectError } from '../../../test/support/shapes';
import { startService } from '../../../test/support/program';

const WIDTH = 800;
const HEIGHT = 600;
const GOOD = { x: 10, y: 20, width: 100, height: 100 };

let service: TestService;
let user: TestUser;
let photo: Record<string, unknown> & { id: string };

beforeAll(async () => {
  service = await startService();
  user = await service.user();
});
beforeEach(async () => {
  photo = await user.photo({ width: WIDTH, height: HEIGHT });
});
afterAll(() => service.close());

const crop = (fields: object) => user.patch(`/api/photos/${photo.id}`, fields);

async function stored(): Promise<unknown> {
  const response = await user.get(`/api/photos/${photo.id}`).expect(200);
  return response.body as unknown;
}

test('a crop is returned and stored, and nothing else of the photo but updatedAt changes', async () => {
  const response = await crop(GOOD).expect(200);
  const updatedAt = anyInstant;
  const expected = { ...photo, updatedAt, cropX: 10, cropY: 20, cropWidth: 100, cropHeight: 100 };
  expect(response.body).toEqual(expected);
  expect(await stored()).toEqual(response.body);
});

test('a later crop replaces the previous one', async () => {
  await crop(GOOD).expect(200);
  const response = await crop({ x: 0, y: 0, width: 1, height: 3 }).expect(200);
  const updatedAt = anyInstant;
  expect(response.body).toEqual({
    ...photo,
    updatedAt,
    cropX: 0,
    cropY: 0,
    cropWidth: 1,
    cropHeight: 3,
  });
});

test.each([
  ['the whole height', { x: 0, y: 0, width: 600, height: 600 }],
  ['the right edge', { x: 700, y: 0, width: 100, height: 100 }],
  ['the bottom edge', { x: 0, y: 500, width: 100, height: 100 }],
  ['the last pixel', { x: 799, y: 599, width: 1, height: 1 }],
  ['the right bottom corner, 2 wider than high', { x: 698, y: 500, width: 102, height: 100 }],
  ['the left top corner, 2 higher than wide', { x: 0, y: 0, width: 100, height: 102 }],
  ['1 wider than high', { x: 0, y: 0, width: 101, height: 100 }],
])('a crop may be %s', async (_what, fields) => {
  await crop(fields).expect(200);
});

test.each([
  ['3 wider than high', { x: 0, y: 0, width: 103, height: 100 }, /width.*height.*within 2 pixels/],
  ['3 higher than wide', { x: 0, y: 0, width: 100, height: 103 }, /width.*height.*within 2 pixels/],
  ['1 beyond the right edge', { x: 701, y: 0, width: 100, height: 100 }, /\bx\b|width/],
  ['1 beyond the bottom edge', { x: 0, y: 501, width: 100, height: 100 }, /\by\b|height/],
  ['as high as the image and 1 lower', { x: 0, y: 1, width: 600, height: 600 }, /\by\b|height/],
  ['wider than the image', { x: 0, y: 0, width: 801, height: 800 }, /width/],
  ['just right of the image', { x: 800, y: 0, width: 1, height: 1 }, /\bx\b|width/],
  ['just below the image', { x: 0, y: 600, width: 1, height: 1 }, /\by\b|height/],
  ['far beyond', { x: Number.MAX_SAFE_INTEGER, y: 0, width: 1, height: 1 }, /\bx\b|width/],
])(
  'a crop %s is refused with the reason, and the previous crop stays',
  async (_what, fields, why) => {
    const before = await crop(GOOD).expect(200);
    expectError(await crop(fields), 400, 'invalid_crop', why);
    expect(await stored()).toEqual(before.body);
  },
);

test('all four fields are required together, integers, x and y from 0, width and height from 1', async () => {
  const least = { x: 0, y: 0, width: 1, height: 1 };
  for (const [name, value] of Object.entries(least)) {
    for (const bad of [undefined, value - 1, value + 0.5, String(value), null]) {
      const response = await crop({ ...least, [name]: bad });
      expectError(response, 400, 'validation_error', new RegExp(`\\b${name}\\b`));
    }
  }
  expectError(await crop({}), 400, 'validation_error', /\bx\b/);
  expect(await stored()).toEqual(photo);
  await crop(least).expect(200);
});

test('takenAt alone leaves the crop as it is, and both change together', async () => {
  const cropped = (await crop(GOOD).expect(200)).body as object;
  const takenAt = '2019-08-01T12:00:00.000Z';
  const updatedAt = anyInstant;
  const dated = await crop({ takenAt: '2019-08-01T14:00:00+02:00' }).expect(200);
  expect(dated.body).toEqual({ ...cropped, takenAt, updatedAt });
  const both = await crop({ x: 0, y: 0, width: 9, height: 9, takenAt: null }).expect(200);
  expect(both.body).toMatchObject({ cropX: 0, cropWidth: 9, takenAt: null });
  expectError(await crop({ takenAt, x: 0 }), 400, 'validation_error', /\by\b/);
  expectError(await crop({ takenAt, ...GOOD, x: 799 }), 400, 'invalid_crop');
  expect(await stored()).toEqual(both.body);
});
