import type { Tool as Listing } from '@modelcontextprotocol/server';

import type { Operation } from '../../src/plugins/operation';
import { Arguments } from './arguments';
import { OutputSchemas } from './output';

/** An operation as an assistant sees it. */
export interface Tool {
  listing: Listing;
  operation: Operation;
  arguments: Arguments;
}

/** The tools that follow from the operations of all plugins, in the order of those. */
export class Tools {
  // A map, because on an object `constructor` would be a tool.
  readonly #byName = new Map<string, Tool>();
  readonly #lists = new Map<string, Listing[]>();

  constructor(operations: readonly Operation[]) {
    const outputs = new OutputSchemas(operations);
    for (const operation of operations) {
      const { tool } = operation;
      if ('name' in tool) this.#byName.set(tool.name, toolOf(operation, tool, outputs));
    }
  }

  get names(): string[] {
    return [...this.#byName.keys()];
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** @throws Error where there is no tool of this name */
  get(name: string): Tool {
    const tool = this.#byName.get(name);
    if (!tool) throw new Error(`There is no tool ${name}.`);
    return tool;
  }

  /** What a holder of these scopes may call. */
  listFor(scopes: ReadonlySet<string>): Listing[] {
    const key = [...scopes].sort().join(' ');
    const cached = this.#lists.get(key);
    if (cached) return cached;
    const list = [...this.#byName.values()]
      .filter(({ operation: { access } }) => !('scope' in access) || scopes.has(access.scope))
      .map(({ listing }) => listing);
    this.#lists.set(key, list);
    return list;
  }
}

function toolOf(
  operation: Operation,
  { name, description }: { name: string; description: string },
  outputs: OutputSchemas,
): Tool {
  const { method, summary } = operation;
  const toolArguments = new Arguments(operation);
  return {
    operation,
    arguments: toolArguments,
    listing: {
      name,
      title: summary,
      description,
      inputSchema: toolArguments.schema,
      outputSchema: outputs.of(operation, name),
      annotations: {
        readOnlyHint: method === 'GET',
        // A change writes over what was there, which is not only to add.
        destructiveHint: method === 'PATCH' || method === 'DELETE',
        idempotentHint: method !== 'POST',
        openWorldHint: false,
      },
    },
  };
}
