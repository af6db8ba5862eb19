import { randomUUID } from 'node:crypto';

import { decodePlace, encodePlace } from '../core/cursor';
import { type ApiError, fieldError } from '../core/errors';
import type { Transaction } from '../data/transaction';
import { operationName } from '../plugins/operation-facts';
import type { ListPart, WriteResult } from '../plugins/transport';
import { cut, splitMark } from './list-part';
import { type KeyedCall, runOnce, type RunOnceDependencies } from './run-once';

/**
 * Runs a write whose answer may be too long for its caller, under an Idempotency-Key if need be one of
 * its own: so the answer is stored, and a cursor reads the rest of it without doing anything again.
 *
 * @throws ApiError for whatever keeps the call from its answer
 */
export async function runInParts(
  dependencies: RunOnceDependencies,
  { key = randomUUID(), ...call }: Omit<KeyedCall, 'key'> & { key: string | undefined },
  { maxLength, cursor }: ListPart,
  write: (tx: Transaction) => Promise<unknown>,
): Promise<WriteResult> {
  const { account, operation, input } = call;
  const list = [account.id, operationName(operation), input.params, input.body];
  const place = cursor === undefined ? undefined : decodePlace(list, cursor);
  if (cursor !== undefined && place === undefined) throw badCursor();
  const { mark: after, rest: ownKey = key } = place === undefined ? {} : splitMark(place);
  const done = await runOnce(
    dependencies,
    { ...call, key: ownKey },
    after === undefined ? write : () => Promise.reject(badCursor()),
  );
  if (done.status >= 400 || (after === undefined && done.json.length <= maxLength)) return done;
  const part = await cut(JSON.parse(done.json), {
    ...{ maxLength, after },
    // It was made before.
    countSkipped: () => undefined,
    cursorAfter: (mark) => encodePlace(list, mark + ownKey),
  });
  if (!part) throw badCursor();
  return { ...done, json: JSON.stringify(part) };
}

/** Not invalid_cursor: without the cursor the same call would do it again. */
function badCursor(): ApiError {
  return fieldError(
    'cursor',
    'cursor must be nextCursor of a call with the same other arguments, of the last days; with one nothing is done.',
  );
}
