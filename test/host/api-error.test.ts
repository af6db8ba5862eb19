import { mongo } from 'mongoose';
import pino from 'pino';

import { toClientError } from '../../src/middleware/client-error';

const log = pino({ level: 'silent' });

test.each([
  [
    'that MongoDB ended because it took too long',
    { code: 251, errorLabels: ['TransientTransactionError'] },
    503,
  ],
  ['that MongoDB ended while it ran because its transaction took too long', { code: 290 }, 503],
  ['that MongoDB was told to end', { code: 11601 }, 503],
  ['that took longer than it was given', { code: 50 }, 503],
  ['whose cursor is gone', { code: 43 }, 503],
  ['that a server refused that is not the primary any more', { code: 10107 }, 503],
  ['that MongoDB does not understand', { code: 9 }, 500],
])('a read %s gets the correct status', (_, answer, status) => {
  const error = toClientError(new mongo.MongoServerError({ message: 'No.', ...answer }), log);
  expect(error).toMatchObject({ status, kind: { code: expect.any(String) as string } });
  expect(error.headers['Retry-After']).toBe(status === 503 ? '1' : undefined);
});
