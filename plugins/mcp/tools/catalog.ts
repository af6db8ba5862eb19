import type { Tool } from '@modelcontextprotocol/server';

import { permits } from '../../../src/core/gardens';
import type { Garden } from '../../../src/core/identity';
import { success } from '../../../src/fields/joi';
import type { Operation } from '../../../src/plugins/operation';
import { readsGarden, requiredScopes } from '../../../src/plugins/operation-facts';
import { ToolArguments } from './arguments';
import { OutputSchemas, resultKindOf } from './output-schemas';

/** A tool, and the operation that it calls. */
export interface CatalogTool {
  /** What an assistant sees. */
  definition: Tool;
  operation: Operation;
  result: ReturnType<typeof resultKindOf>;
  arguments: ToolArguments;
}

/** The tools of all operations, in the order of the operations. */
export class ToolCatalog {
  // On an object `constructor` would be a tool.
  readonly #byName = new Map<string, CatalogTool>();
  readonly #definitionsByScopes = new Map<string, Tool[]>();

  constructor(operations: readonly Operation[]) {
    const outputs = new OutputSchemas(operations);
    for (const operation of operations) {
      const { tool } = operation;
      if (!('name' in tool)) continue;
      this.#byName.set(tool.name, catalogTool(tool.instead ?? operation, tool, outputs));
    }
  }

  get names(): string[] {
    return [...this.#byName.keys()];
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** @throws Error when no tool has this name */
  get(name: string): CatalogTool {
    const tool = this.#byName.get(name);
    if (!tool) throw new Error(`There is no tool ${name}.`);
    return tool;
  }

  /** The tools that a token with these scopes may call, also in the garden of another. */
  definitionsFor(scopes: ReadonlySet<string>, garden?: Garden): Tool[] {
    const key = [garden?.role, ...[...scopes].sort()].join(' ');
    const cached = this.#definitionsByScopes.get(key);
    if (cached) return cached;
    const has = (scope: string) => scopes.has(scope) && permits(garden, scope);
    const definitions = [...this.#byName.values()]
      .filter(({ operation }) => !garden || operation.of === 'garden' || !readsGarden(operation))
      .filter(({ operation }) => requiredScopes(operation).every(has))
      .map(({ definition }) => definition);
    this.#definitionsByScopes.set(key, definitions);
    return definitions;
  }
}

function catalogTool(
  operation: Operation,
  { name, description }: { name: string; description: string },
  outputs: OutputSchemas,
): CatalogTool {
  const { method, summary } = operation;
  const toolArguments = new ToolArguments(operation);
  return {
    operation,
    result: resultKindOf(operation),
    arguments: toolArguments,
    definition: {
      name,
      title: summary,
      description,
      inputSchema: toolArguments.schema,
      outputSchema: outputs.of(operation, name),
      annotations: {
        readOnlyHint: method === 'GET',
        // A change overwrites data, rather than only adding to it.
        destructiveHint: method === 'PATCH' || operation.response.schema === success,
        // False by default, unlike the others.
        ...(method !== 'POST' && { idempotentHint: true }),
        openWorldHint: false,
      },
    },
  };
}
