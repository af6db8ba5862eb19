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

/** Server errors of JSON-RPC that no specification gives a number of their own. */
const SERVER_ERROR = -32000;

/** What is sent back over HTTP; the JSON of a notification's reply is empty. */
export interface Reply {
  status: number;
  json: string;
}

/** A message as it came in. */
interface Inbound {
  message: JSONRPCRequest | JSONRPCNotification;
  headers: IncomingHttpHeaders;
}

/** A request must have one; here it says nothing. */
const ANY_URL = 'http://localhost/';

const VERSION_HEADER = 'mcp-protocol-version';
/** The first revision without `initialize`, of which the package exports no list. */
const STATELESS_VERSION = '2026-07-28';
/** The headers that the protocol gives a meaning. */
const PROTOCOL_HEADERS = [VERSION_HEADER, 'mcp-method', 'mcp-name'];

/** Makes what is made with the first messages otherwise: the package's schemas, and Node's `Request`. */
export function preload(): void {
  preloadSchemas();
  void new Request(ANY_URL);
}

/** An error of JSON-RPC, where there is no call that could answer it. */
export function errorReply(
  status: number,
  code: number,
  message: string,
  id: string | number | null = null,
): Reply {
  return { status, json: JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }) };
}

/** The id of what may not even be a message; null where it has none that could be sent back. */
export function messageId(message: unknown): string | number | null {
  const id = isRecord(message) ? message['id'] : undefined;
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id)) ? id : null;
}

/** Whether a message is of the revisions that begin with `initialize`. */
export function isLegacy({ message, headers }: Inbound): boolean {
  const version = protocolHeaders(headers)[VERSION_HEADER];
  const { kind } = classifyInboundRequest({
    httpMethod: 'POST',
    body: message,
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
  });
  return kind === 'legacy';
}

/** What the protocol's package answers to a message, with a server made for it alone. */
export async function exchange(inbound: Inbound, server: () => McpServer): Promise<Reply> {
  return isLegacy(inbound) ? exchangeLegacy(inbound, server) : exchangeStateless(inbound, server);
}

/** The revisions until 2025-11-25. */
async function exchangeLegacy(
  { message, headers }: Inbound,
  server: () => McpServer,
): Promise<Reply> {
  const version = protocolHeaders(headers)[VERSION_HEADER];
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    const supported = [STATELESS_VERSION, ...SUPPORTED_PROTOCOL_VERSIONS].join(', ');
    const text = `This protocol version is not supported; these are: ${supported}.`;
    return errorReply(400, SERVER_ERROR, text, messageId(message));
  }
  // Notifications of these revisions mean something within a session only.
  if (isJSONRPCNotification(message)) return { status: 202, json: '' };
  const [client, remote] = InMemoryTransport.createLinkedPair();
  await server().connect(remote);
  const reply = new Promise<JSONRPCMessage>((resolve) => {
    client.onmessage = resolve;
  });
  await client.send(message);
  return { status: 200, json: JSON.stringify(await reply) };
}

/** The revisions since 2026-07-28, whose requirements on headers the package knows. */
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
