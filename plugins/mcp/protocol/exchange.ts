import type { IncomingHttpHeaders } from 'node:http';

import {
  classifyInboundRequest,
  createMcpHandler,
  InMemoryTransport,
  isJSONRPCNotification,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type McpServer,
  preloadSchemas,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';

import { isRecord } from '../../../src/core/values';

/** The JSON-RPC code of server errors without a code of their own. */
const SERVER_ERROR = -32000;

/** An HTTP response. The JSON is empty for a notification. */
export interface Reply {
  status: number;
  json: string;
}

/** A received message. */
interface Inbound {
  message: JSONRPCRequest | JSONRPCNotification;
  headers: IncomingHttpHeaders;
}

/** `Request` requires a URL; nobody reads it. */
const ANY_URL = 'http://localhost/';

const VERSION_HEADER = 'mcp-protocol-version';
/** The first revision without `initialize`; the package does not export it. */
const STATELESS_VERSION = '2026-07-28';
/** The headers of the protocol. */
const PROTOCOL_HEADERS = [VERSION_HEADER, 'mcp-method', 'mcp-name'];

/** Loads what the first message would load: the package's schemas, and Node's `Request`. */
export function preload(): void {
  preloadSchemas();
  void new Request(ANY_URL);
}

/** A JSON-RPC error for a message that calls nothing. */
export function errorReply(
  status: number,
  code: number,
  message: string,
  id: string | number | null = null,
): Reply {
  return { status, json: JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }) };
}

/** The id of a message, which may be invalid; null when it has no usable id. */
export function messageId(message: unknown): string | number | null {
  const id = isRecord(message) ? message['id'] : undefined;
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id)) ? id : null;
}

/** Whether a message belongs to a revision with `initialize`. */
export function isLegacy({ message, headers }: Inbound): boolean {
  const version = protocolHeaders(headers)[VERSION_HEADER];
  const { kind } = classifyInboundRequest({
    httpMethod: 'POST',
    body: message,
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
  });
  return kind === 'legacy';
}

/** Lets the protocol's package respond to a message, with a new server. */
export async function exchange(inbound: Inbound, server: () => McpServer): Promise<Reply> {
  return isLegacy(inbound) ? exchangeLegacy(inbound, server) : exchangeStateless(inbound, server);
}

/** Revisions up to 2025-11-25. */
async function exchangeLegacy(
  { message, headers }: Inbound,
  server: () => McpServer,
): Promise<Reply> {
  const version = protocolHeaders(headers)[VERSION_HEADER];
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    const supported = [STATELESS_VERSION, ...SUPPORTED_PROTOCOL_VERSIONS].join(', ');
    const text = `This protocol version is not supported; supported are: ${supported}.`;
    return errorReply(400, SERVER_ERROR, text, messageId(message));
  }
  // Notifications of these revisions matter only within a session.
  if (isJSONRPCNotification(message)) return { status: 202, json: '' };
  const [client, remote] = InMemoryTransport.createLinkedPair();
  await server().connect(remote);
  const reply = new Promise<JSONRPCMessage>((resolve) => {
    client.onmessage = resolve;
  });
  await client.send(message);
  return { status: 200, json: JSON.stringify(await reply) };
}

/** Revisions since 2026-07-28; the package checks their headers. */
async function exchangeStateless(
  { message, headers }: Inbound,
  server: () => McpServer,
): Promise<Reply> {
  const request = new Request(ANY_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...protocolHeaders(headers) },
  });
  const handler = createMcpHandler(server, { legacy: 'reject' });
  const response = await handler.fetch(request, { parsedBody: message });
  return { status: response.status, json: await response.text() };
}

function protocolHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of PROTOCOL_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') found[name] = value;
  }
  return found;
}
