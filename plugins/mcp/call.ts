import { randomUUID } from 'node:crypto';

import {
  type JSONRPCNotification,
  type JSONRPCRequest,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type Tool,
} from '@modelcontextprotocol/server';

import { IDENTITY } from '../../src/project';
import { INSTRUCTIONS } from './instructions';
import type { ToolAnswer } from './results';

/** What one caller can ask for. */
export interface Desk {
  tools(): Tool[];
  /** Undefined where there is no tool of this name. */
  call(name: string, given: unknown): Promise<ToolAnswer> | undefined;
}

/** Stands for JSON that is written already: the package would go through it several times. */
const SLOT = randomUUID();

/** One message on its way through the package. */
export class Call {
  /** Without the arguments of a tool, which are nobody's to judge but the tool's. */
  readonly message: JSONRPCRequest | JSONRPCNotification;
  readonly #arguments: unknown;
  #structured: string | undefined;

  constructor(
    private readonly desk: Desk,
    message: JSONRPCRequest | JSONRPCNotification,
  ) {
    const { method, params } = message;
    const isToolCall = method === 'tools/call' && params !== undefined;
    this.message = isToolCall ? { ...message, params: { ...params, arguments: {} } } : message;
    this.#arguments = params?.['arguments'] ?? {};
  }

  /** Its own registry of tools stays empty: it would translate schemas each time. */
  server(): McpServer {
    const capabilities = { tools: {} };
    const mcp = new McpServer(IDENTITY, { capabilities, instructions: INSTRUCTIONS });
    mcp.server.setRequestHandler('tools/list', () => ({ tools: this.desk.tools() }));
    mcp.server.setRequestHandler('tools/call', async ({ params: { name } }) => {
      const result = await this.desk.call(name, this.#arguments);
      if (!result) throw new ProtocolError(ProtocolErrorCode.InvalidParams, noTool(name));
      if ('problem' in result) {
        return { content: [{ type: 'text', text: result.problem }], isError: true };
      }
      this.#structured = result.structured;
      return { content: [{ type: 'text', text: SLOT }], structuredContent: { [SLOT]: true } };
    });
    return mcp;
  }

  /** The package's answer with the tool's in its place. */
  written(json: string): string {
    const structured = this.#structured;
    if (structured === undefined) return json;
    return json
      .replace(`{"${SLOT}":true}`, () => structured)
      .replace(`"${SLOT}"`, () => JSON.stringify(structured));
  }
}

function noTool(name: string): string {
  return `There is no tool ${JSON.stringify(name.slice(0, 100))}; tools/list names those there are.`;
}
