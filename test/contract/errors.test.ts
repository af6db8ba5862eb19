import { ErrorCode, hostErrors } from '../../src/core/errors';
import { operationRows, pluginsUnderTest } from '../support/program';

/** The codes that clients rely on, each with its usual status. */
const CODES: Readonly<Record<string, number>> = {
  validation_error: 400,
  invalid_json: 400,
  invalid_text: 400,
  unsupported_media_type: 415,
  payload_too_large: 413,
  invalid_cursor: 400,
  invalid_crop: 400,
  photo_not_found: 404,
  plant_not_found: 404,
  event_not_found: 404,
  unauthorized: 401,
  invalid_token: 401,
  insufficient_scope: 403,
  plant_limit_reached: 403,
  photo_limit_reached: 403,
  feature_not_available: 403,
  rate_limited: 429,
  not_found: 404,
  method_not_allowed: 405,
  idempotency_conflict: 409,
  idempotency_mismatch: 422,
  service_unavailable: 503,
  internal_error: 500,
};

const plugins = pluginsUnderTest();
const declared = [...hostErrors, ...plugins.flatMap(({ errors }) => errors ?? [])];

test('the listed codes are declared, each once', () => {
  const codes = declared.map(({ code }) => code);
  expect(codes).toEqual(expect.arrayContaining(Object.keys(CODES)));
  expect(new Set(codes).size).toBe(codes.length);
});

test.each(declared.map((each) => [each.code, each] as const))(
  '%s has its status and one English sentence',
  (code, { status, meaning }) => {
    expect(status).toBe(CODES[code] ?? status);
    expect(meaning).toMatch(/^[A-Z][^\n]*[^.]\.$/);
  },
);

test('every code of an operation or quota is declared', () => {
  const given = [
    ...operationRows().flatMap(([, { errors = [], params = {} }]) => [
      ...errors,
      ...Object.values(params),
    ]),
    ...plugins.flatMap(({ quotas }) => Object.values(quotas ?? {}).map(({ error }) => error)),
  ];
  const codes = new Set(declared.map(({ code }) => code));
  expect(given.map(({ code }) => code).filter((code) => !codes.has(code))).toEqual([]);
  expect(given.length).toBeGreaterThan(10);
});

test('an error has only a code and a message', () => {
  const error = new ErrorCode('a_code', 400, 'A meaning.').error('A message.');
  expect(error.body).toEqual({ error: 'A message.', code: 'a_code' });
});
