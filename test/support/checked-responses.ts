import { TextStream } from '../../src/core/http/content';
import { isAsyncIterable } from '../../src/core/values';
import type { Operation } from '../../src/plugins/operation';
import { operationName } from '../../src/plugins/operation-facts';

/** Makes an operation fail if its response does not match its schema. */
export function checkResponses(operation: Operation): void {
  const handler = operation.handler.bind(operation);
  operation.handler = async (call) => checkedResponse(operation, await handler(call));
}

/**
 * Validates a response by the schema of its operation and returns it; batches of a stream are
 * validated one by one.
 *
 * @throws Error if the response does not match the schema
 */
function checkedResponse(operation: Operation, value: unknown): unknown {
  // A stream cannot be validated before it is sent.
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
