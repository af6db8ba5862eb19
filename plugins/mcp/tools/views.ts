import { fieldError } from '../../../src/core/errors';
import type { Operation } from '../../../src/plugins/operation';
import type { ToolArguments } from './arguments';
import { orNull } from './input-schemas';

const NAMES = ['summary', 'full'] as const;

/** The operations of which a tool calls one: `view` says which, and is an argument of tools alone. */
export type Views = Readonly<Record<(typeof NAMES)[number], Operation>>;

const VIEW = orNull({
  type: 'string',
  enum: [...NAMES],
  description: 'full: all fields; default summary',
});

/** An input schema that takes the view besides. */
export function withView(schema: ToolArguments['schema']): ToolArguments['schema'] {
  return { ...schema, properties: { ...schema.properties, view: VIEW } };
}

/**
 * The operation that a call is for, and the arguments that it takes.
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
