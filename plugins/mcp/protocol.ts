import type { IncomingHttpHeaders } from 'node:http';

import {
  classifyInboundRequest,
  createMcpHandler,
  InMemoryTransport,
  INVALID_REQUEST,
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  McpServer,
  METHOD_NOT_FOUND,
  ProtocolError,
  ProtocolErrorCode,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Tool,
} from '@modelcontextprotocol/server';

import { IDENTITY } from '../../src/core/project';
import { type Answer, Frames, type Sent } from './frames';
import { INSTRUCTIONS } from './instructions';
import type { ToolAnswer } from './results';

/** Server errors of JSON-RPC that no specification gives a number of their own. */
export const SERVER_ERROR = -32000;

/** What one caller can ask for. */
export interface ToolServer {
  tools(): Tool[];
  /** Whether there is a tool of this name, whoever may call it. */
  has(name: string): boolean;
  call(name: string, given: unknown): Promise<ToolAnswer>;
}

/** An error of JSON-RPC, where there is no call that could answer it. */
export function rpcError(
  status: number,
  code: number,
  message: string,
  id: unknown = null,
): Answer {
  return { status, json: JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }) };
}

/** Answers one message, of whichever era of the protocol. Nothing is remembered of its sender. */
export async function answer(
  message: unknown,
  given: IncomingHttpHeaders,
  tools: ToolServer,
): Promise<Answer> {
  if (!isJSONRPCRequest(message) && !isJSONRPCNotification(message)) {
    return rpcError(400, INVALID_REQUEST, NOT_A_REQUEST, readableId(message));
  }
  const headers = judgedOf(given);
  if (!isJSONRPCRequest(message)) return exchange({ message, headers }, serverFor(tools));
  if (message.method === 'subscriptions/listen') {
    // It would open an event stream, of which there are none here.
    const status = eraOf({ message, headers }) === 'legacy' ? 200 : 404;
    return rpcError(status, METHOD_NOT_FOUND, 'Method not found', message.id);
  }
  if (message.method === 'initialize' && !isInitializeRequest(message)) {
    return rpcError(200, ProtocolErrorCode.InvalidParams, NO_INITIALIZE, message.id);
  }
  return message.method === 'tools/call'
    ? answerToolCall(message, headers, tools)
    : exchange({ message, headers }, serverFor(tools));
}

const NOT_A_REQUEST =
  'The body must be one JSON-RPC 2.0 request: an object with jsonrpc "2.0", method, an id that is a string or an integer, and params, if any, an object.';

const NO_INITIALIZE =
  'params must be an object with protocolVersion (a string), capabilities (an object) and clientInfo (an object with name and version).';

const VERSION_HEADER = 'mcp-protocol-version';
const HEADERS = [VERSION_HEADER, 'mcp-method', 'mcp-name'];

const frames = new Frames((call, result) =>
  exchange(call, () => {
    const mcp = emptyServer();
    mcp.server.setRequestHandler('tools/call', () => result);
    return mcp;
  }),
);

async function answerToolCall(
  message: JSONRPCRequest,
  headers: Sent['headers'],
  tools: ToolServer,
): Promise<Answer> {
  const { arguments: given = {}, ...params } = message.params ?? {};
  const name = typeof params['name'] === 'string' ? params['name'] : '';
  const call = { message: { ...message, params: { ...params, name } }, headers };
  if (!tools.has(name)) return exchange(call, serverWithout(name));
  return frames.answer(call, () => tools.call(name, given));
}

function serverFor(tools: ToolServer): () => McpServer {
  return () => {
    const mcp = emptyServer();
    mcp.server.setRequestHandler('tools/list', () => ({ tools: tools.tools() }));
    return mcp;
  };
}

function serverWithout(name: string): () => McpServer {
  const text =
    name === ''
      ? 'params.name must be the name of a tool; tools/list names those there are.'
      : `There is no tool ${JSON.stringify(name.slice(0, 100))}; tools/list names those there are.`;
  return () => {
    const mcp = emptyServer();
    mcp.server.setRequestHandler('tools/call', () => {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, text);
    });
    return mcp;
  };
}

/** The package's own registry of tools stays empty: it would translate schemas each time. */
function emptyServer(): McpServer {
  // Nobody can be told of changes here, and there are none while a process runs.
  const capabilities = { tools: { listChanged: false } };
  return new McpServer(IDENTITY, { capabilities, instructions: INSTRUCTIONS });
}

/** What the package answers to a message, with a server made for it alone. */
async function exchange(sent: Sent, server: () => McpServer): Promise<Answer> {
  return eraOf(sent) === 'legacy' ? exchangeOlder(sent, server) : exchangeStateless(sent, server);
}

/** `legacy` for the revisions that begin with `initialize`. */
function eraOf({ message, headers }: Sent): string {
  const version = headers[VERSION_HEADER];
  const { kind } = classifyInboundRequest({
    httpMethod: 'POST',
    body: message,
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
  });
  return kind;
}

/** The revisions until 2025-11-25. */
async function exchangeOlder({ message, headers }: Sent, server: () => McpServer): Promise<Answer> {
  const version = headers[VERSION_HEADER];
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    const supported = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
    const text = `This protocol version is not supported; these are: ${supported}.`;
    return rpcError(400, SERVER_ERROR, text, readableId(message));
  }
  // What older notifications tell a server is of use within a session only.
  if (isJSONRPCNotification(message)) return { status: 202, json: '' };
  const [here, there] = InMemoryTransport.createLinkedPair();
  await server().connect(there);
  const reply = new Promise<JSONRPCMessage>((resolve) => {
    here.onmessage = resolve;
  });
  await here.send(message);
  return { status: 200, json: JSON.stringify(await reply) };
}

/** The revisions since 2026-07-28, whose requirements on headers the package knows. */
async function exchangeStateless(
  { message, headers }: Sent,
  server: () => McpServer,
): Promise<Answer> {
  const request = new Request('http://localhost/', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
  });
  const handler = createMcpHandler(server, { legacy: 'reject' });
  const response = await handler.fetch(request, { parsedBody: message });
  return { status: response.status, json: await response.text() };
}

function judgedOf(headers: IncomingHttpHeaders): Record<string, string> {
  const judged: Record<string, string> = {};
  for (const name of HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') judged[name] = value;
  }
  return judged;
}

function readableId(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('id' in message)) return null;
  const { id } = message;
  return typeof id === 'string' || Number.isInteger(id) ? id : null;
}
