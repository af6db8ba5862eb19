import type { IncomingHttpHeaders } from 'node:http';

import {
  classifyInboundRequest,
  createMcpHandler,
  InMemoryTransport,
  INVALID_REQUEST,
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  METHOD_NOT_FOUND,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';

import { Call, type Desk } from './call';

/** Server errors of JSON-RPC that no specification gives a number of their own. */
export const SERVER_ERROR = -32000;

/** An answer over HTTP; without JSON when there is nothing to say. */
export interface Answer {
  status: number;
  json: string;
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

/** Answers one message, of whichever era of the protocol. Nothing is remembered between messages. */
export async function answer(
  message: unknown,
  headers: IncomingHttpHeaders,
  desk: Desk,
): Promise<Answer> {
  if (!isJSONRPCRequest(message) && !isJSONRPCNotification(message)) {
    return rpcError(400, INVALID_REQUEST, NOT_A_REQUEST, readableId(message));
  }
  if (isJSONRPCRequest(message) && message.method === 'subscriptions/listen') {
    // It would open an event stream, of which there are none here.
    return rpcError(200, METHOD_NOT_FOUND, 'Method not found', message.id);
  }
  const call = new Call(desk, message);
  const version = header(headers, VERSION_HEADER);
  const { kind } = classifyInboundRequest({
    httpMethod: 'POST',
    body: message,
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
  });
  return kind === 'legacy' ? answerOlder(call, version) : answerStateless(call, headers);
}

const NOT_A_REQUEST =
  'The body must be one JSON-RPC 2.0 request: an object with jsonrpc "2.0", method, an id that is a string or an integer, and params, if any, an object.';

const VERSION_HEADER = 'mcp-protocol-version';
const HEADERS = [VERSION_HEADER, 'mcp-method', 'mcp-name'];

/** The revisions until 2025-11-25. */
async function answerOlder(call: Call, version: string | undefined): Promise<Answer> {
  const { message } = call;
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    const supported = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
    const text = `This protocol version is not supported; these are: ${supported}.`;
    return rpcError(400, SERVER_ERROR, text, readableId(message));
  }
  // What older notifications tell a server is of use within a session only.
  if (isJSONRPCNotification(message)) return { status: 202, json: '' };
  const [here, there] = InMemoryTransport.createLinkedPair();
  await call.server().connect(there);
  const reply = new Promise<JSONRPCMessage>((resolve) => {
    here.onmessage = resolve;
  });
  await here.send(message);
  return { status: 200, json: call.written(JSON.stringify(await reply)) };
}

/** The revisions since 2026-07-28, whose requirements on headers the package knows. */
async function answerStateless(call: Call, given: IncomingHttpHeaders): Promise<Answer> {
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const name of HEADERS) {
    const value = header(given, name);
    if (value !== undefined) headers.set(name, value);
  }
  const request = new Request('http://localhost/', { method: 'POST', headers });
  const handler = createMcpHandler(() => call.server(), { legacy: 'reject' });
  const response = await handler.fetch(request, { parsedBody: call.message });
  return { status: response.status, json: call.written(await response.text()) };
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

function readableId(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || !('id' in message)) return null;
  const { id } = message;
  return typeof id === 'string' || Number.isInteger(id) ? id : null;
}
