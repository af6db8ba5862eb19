import type { IncomingHttpHeaders } from 'node:http';

import {
  type CallToolResult,
  INVALID_REQUEST,
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCRequest,
  McpServer,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  ProtocolError,
  ProtocolErrorCode,
  type Tool,
} from '@modelcontextprotocol/server';

import { prototypeKeyIn } from '../../../src/core/text/json';
import { PROJECT } from '../../../src/core/settings/project';
import { isRecord } from '../../../src/core/values';
import { errorReply, exchange, isLegacy, messageId, type Reply } from './exchange';

/** The tools and instructions for one caller. */
interface ToolService {
  /** What a model should know before it reads the tools. */
  instructions: string;
  /** The tools that the caller may call. */
  listTools(): Tool[];
  /** Whether a tool exists, even if the caller may not call it. */
  hasTool(name: string): boolean;
  callTool(name: string, args: unknown): Promise<CallToolResult>;
}

/** Responds to a message of any revision of the protocol. It keeps no state. */
export async function handleMessage(
  body: unknown,
  headers: IncomingHttpHeaders,
  service: ToolService,
): Promise<Reply> {
  const { message, args } = separateArguments(body);
  if (prototypeKeyIn(message) !== undefined) return errorReply(400, PARSE_ERROR, PROTOTYPE_KEY);
  if (!isJSONRPCRequest(message) && !isJSONRPCNotification(message)) {
    return errorReply(400, INVALID_REQUEST, NOT_A_REQUEST, messageId(message));
  }
  const refusal = isJSONRPCRequest(message) ? refusalOf(message, headers) : undefined;
  return refusal ?? exchange({ message, headers }, () => serverFor(service, args));
}

/** The error for a request to which the package would respond wrongly, or not at all. */
function refusalOf(message: JSONRPCRequest, headers: IncomingHttpHeaders): Reply | undefined {
  const { method, id, params } = message;
  if (method === 'tools/list' && !['string', 'undefined'].includes(typeof params?.['cursor'])) {
    return errorReply(200, ProtocolErrorCode.InvalidParams, NO_CURSOR, id);
  }
  if (method !== 'initialize' && method !== 'subscriptions/listen') return undefined;
  const legacy = isLegacy({ message, headers });
  // Revisions since 2026-07-28 have no `initialize`. A subscription would open an event stream.
  if (!legacy || method === 'subscriptions/listen') {
    return errorReply(legacy ? 200 : 404, METHOD_NOT_FOUND, 'Method not found', id);
  }
  if (isInitializeRequest(message)) return undefined;
  return errorReply(200, ProtocolErrorCode.InvalidParams, NO_INITIALIZE, id);
}

const PROTOTYPE_KEY = 'The request body must not contain the keys __proto__ or constructor.';

const NOT_A_REQUEST =
  'The body must be one JSON-RPC 2.0 request: an object with jsonrpc "2.0", method, an id that is a string or an integer (at most 2^53 - 1), optionally params (an object), and nothing else.';

const NO_CURSOR = 'params.cursor must be a string or absent: the list has one page.';

const NO_INITIALIZE =
  'params must be an object with protocolVersion (a string), capabilities (an object) and clientInfo (an object with name and version).';

/**
 * Splits the arguments of a tool, which only its operation checks, from the message, and drops `task`,
 * which servers without tasks must ignore.
 */
function separateArguments(body: unknown): { message: unknown; args: unknown } {
  if (!isRecord(body) || body['method'] !== 'tools/call') return { message: body, args: {} };
  const { params: given = {} } = body;
  if (!isRecord(given)) return { message: body, args: {} };
  const { arguments: args, task: _ignored, ...params } = given;
  const name = typeof params['name'] === 'string' ? params['name'] : '';
  return { message: { ...body, params: { ...params, name } }, args: args ?? {} };
}

/** Does not use the package's own registry of tools, which would convert schemas each time. */
function serverFor(service: ToolService, args: unknown): McpServer {
  // There is no stream to announce changes on, and tools do not change while a process runs.
  const capabilities = { tools: { listChanged: false } };
  const mcp = new McpServer(PROJECT, { capabilities, instructions: service.instructions });
  mcp.server.setRequestHandler('tools/list', () => ({ tools: service.listTools() }));
  mcp.server.setRequestHandler('tools/call', ({ params: { name } }) => {
    if (service.hasTool(name)) return service.callTool(name, args);
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(name));
  });
  return mcp;
}

function unknownTool(name: string): string {
  return name === ''
    ? 'params.name must be the name of a tool; tools/list has them all.'
    : `There is no tool ${JSON.stringify(name.slice(0, 100))}; tools/list has them all.`;
}
