import { TextStream } from '../../core/text/text-stream';
import { isAsyncIterable } from '../../core/values';
import type { Operation } from '../../plugins/operation';
import { operationName } from '../../plugins/operation-facts';

/**
 * What an operation answered, once it was checked; batches are checked as they come.
 *
 * @throws Error where it is not as the operation's response schema says
 */
export function checkedResponse(operation: Operation, value: unknown): unknown {
  // A text that is made piece by piece is known only once it was sent.
  if (value instanceof TextStream) return value;
  if (isAsyncIterable(value)) return checkedBatches(operation, value);
  checkResponse(operation, value);
  return value;
}

async function* checkedBatches(
  operation: Operation,
  batches: AsyncIterable<readonly unknown[]>,
): AsyncGenerator<readonly unknown[]> {
  for await (const batch of batches) {
    checkResponse(operation, batch);
    yield batch;
  }
}

function checkResponse(operation: Operation, value: unknown): void {
  const { error } = operation.response.schema.validate(value, { convert: false });
  if (error) {
    throw new Error(`${operationName(operation)} breaks its response schema: ${error.message}`);
  }
}
