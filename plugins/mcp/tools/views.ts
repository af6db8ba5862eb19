import { fieldError } from '../../../src/core/errors';
import type { Operation } from '../../../src/plugins/operation';
import type { ToolArguments } from './arguments';
import { orNull } from './input-schemas';

const NAMES = ['summary', 'full'] as const;

/** The operations of a tool; the argument `view`, which only tools have, chooses one. */
export type Views = Readonly<Record<(typeof NAMES)[number], Operation>>;

const VIEW = orNull({
  type: 'string',
  enum: [...NAMES],
  description: 'full: all fields; default summary',
});

/** The input schema with the argument `view`. */
export function withView(schema: ToolArguments['schema']): ToolArguments['schema'] {
  return { ...schema, properties: { ...schema.properties, view: VIEW } };
}

/**
 * The operation that a call chooses, and its arguments.
 *
 * @throws ApiError validation_error
 */
export function viewed(
  { operation, views }: { operation: Operation; views?: Views },
  args: Readonly<Record<string, unknown>>,
): { operation: Operation; others: Readonly<Record<string, unknown>> } {
  if (!views) return { operation, others: args };
  const { view, ...others } = args;
  const name = NAMES.find((each) => each === (view ?? 'summary'));
  if (name) return { operation: views[name], others };
  throw fieldError('view', `view must be one of [${NAMES.join(', ')}].`);
}
