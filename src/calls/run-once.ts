import { ApiError, validationError } from '../core/errors';
import type { Account } from '../core/identity';
import { jsonText } from '../core/json-array';
import { MAX_KEY_LENGTH } from '../core/request-limits';
import { fingerprintOf, type IdempotencyStore, type StoredResponse } from '../data/idempotency';
import type { Transaction } from '../data/transaction';
import type { WriteQueue } from '../data/write-queue';
import type { Operation } from '../plugins/operation';
import type { WriteResult } from '../plugins/transport';
import type { ValidInput } from './validate';

export interface RunOnceDependencies {
  writeQueue: WriteQueue;
  idempotency: IdempotencyStore;
}

export interface KeyedCall {
  operation: Operation;
  account: Account;
  /** Of the header Idempotency-Key. */
  key: string;
  input: ValidInput;
}

/**
 * Runs a write once for its Idempotency-Key (docs/decisions.md, "Retries"): the response is stored
 * with its effect, as is that what the call is about is not there.
 *
 * @throws ApiError for whatever keeps the call from its answer
 */
export async function runOnce(
  { idempotency, writeQueue }: RunOnceDependencies,
  { operation, account, key, input }: KeyedCall,
  write: (tx: Transaction) => Promise<unknown>,
): Promise<WriteResult> {
  if (key.length === 0 || key.length > MAX_KEY_LENGTH) {
    throw validationError.error(
      `The header Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters.`,
    );
  }
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => input.params[name] ?? '');
  const fingerprint = fingerprintOf(operation.method, path, input.body);
  const request = { userId: account.id, key, fingerprint };
  const store = async (
    tx: Transaction,
    status: number,
    value: unknown,
  ): Promise<StoredResponse> => {
    const response = { status, body: await jsonText(value) };
    await idempotency.store(tx, request, response);
    return response;
  };
  const { quota } = operation;
  const work = async (): Promise<StoredResponse> => {
    try {
      return await writeQueue.run(
        account.id,
        async (tx) => store(tx, operation.response.status, await write(tx)),
        { quota },
      );
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) {
        await writeQueue.run(account.id, (tx) => store(tx, 404, error.body));
      }
      throw error;
    }
  };
  const { response, replayed } = await idempotency.runOnce(request, work);
  return { status: response.status, json: response.body, replayed };
}
