import type Joi from 'joi';

import { invalidJson, validationError } from '../core/errors';
import { isUuid } from '../core/ids';
import { isAsyncIterable, isRecord } from '../core/values';
import { type Operation, operationName } from '../plugins/operation';
import type { CallInput } from '../plugins/transport';

/** The input of a call after its operation's schemas let it through. */
export interface ValidInput {
  /** Text forms of UUIDs, in lower case. */
  params: Readonly<Record<string, string>>;
  query: unknown;
  body: unknown;
}

/** Longer messages are cut: they name fields as sent, and a field's name can be as long as a body. */
const MAX_MESSAGE = 300;

/**
 * Query and body first, path ids last: an id of the wrong form is answered exactly as one that
 * does not exist, which is found out after validation.
 *
 * @throws ApiError validation_error, invalid_json or what a malformed path id means
 */
export function validateInput(operation: Operation, input: CallInput): ValidInput {
  if (!operation.query || Object.hasOwn(input.query ?? {}, '__proto__')) refuseQuery(input.query);
  const query = operation.query && validate(operation.query, input.query);
  const body = operation.body ? validate(operation.body, requireObject(input.body)) : undefined;
  const params: Record<string, string> = {};
  for (const [name, error] of Object.entries(operation.params ?? {})) {
    const id = input.params[name] ?? '';
    if (!isUuid(id)) throw error.error();
    params[name] = id.toLowerCase();
  }
  return { params, query, body };
}

/**
 * What an operation answered, once it was checked; items are checked as they come.
 *
 * @throws Error where it is not as the operation's response schema says
 */
export function checkedResponse(operation: Operation, value: unknown): unknown {
  if (isAsyncIterable(value)) return checkedItems(operation, value);
  checkResponse(operation, value);
  return value;
}

async function* checkedItems(operation: Operation, items: AsyncIterable<unknown>): AsyncGenerator {
  for await (const item of items) {
    checkResponse(operation, [item]);
    yield item;
  }
}

function checkResponse(operation: Operation, value: unknown): void {
  const { error } = operation.response.schema.validate(value, { convert: false });
  if (error) {
    throw new Error(`${operationName(operation)} breaks its response schema: ${error.message}`);
  }
}

/** A message that quotes what was sent, cut where that is long. */
export function shortened(message: string): string {
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;
}

function refuseQuery(query: unknown): void {
  const [name] = Object.keys(query ?? {});
  if (name !== undefined) throw validationError.error(`${shortened(name)} is not allowed.`);
}

function requireObject(body: unknown): object {
  if (!isRecord(body)) throw invalidJson.error('The request body must be a JSON object.');
  return body;
}

function validate(schema: Joi.Schema, value: unknown): unknown {
  const checked = schema.validate(value, {
    // JSON has types of its own; what a transport sends as text it converts itself.
    convert: false,
    errors: { wrap: { label: false } },
  });
  if (checked.error) throw validationError.error(`${shortened(checked.error.message)}.`);
  return checked.value as unknown;
}
