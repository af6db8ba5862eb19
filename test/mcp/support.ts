import type { IncomingHttpHeaders } from 'node:http';

import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';

import { keptConnections, send } from '../support/raw';
import type { TestService, TestUser, UserOptions } from '../support/service';

/** Strict, so that unknown keywords are noticed. */
export const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
addFormats(ajv);

/** The tools that assistants rely on; other plugins may add more. */
export const TOOLS: readonly string[] = [
  'archive_plant',
  'complete_care',
  'create_event',
  'create_photo',
  'create_plant',
  'create_schedule',
  'crop_photo',
  'delete_event',
  'delete_events',
  'delete_photo',
  'delete_plant',
  'delete_schedule',
  'get_account',
  'get_insights',
  'get_photo',
  'get_plant',
  'import_plants',
  'list_announcements',
  'list_due_care',
  'list_events',
  'list_locations',
  'list_month_events',
  'list_photos',
  'list_plants',
  'list_schedules',
  'log_care',
  'rename_location',
  'restore_event',
  'search_events',
  'skip_care',
  'snooze_care',
  'unarchive_plant',
  'update_account',
  'update_event',
  'update_plant',
  'update_schedule',
];

export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema: Record<string, unknown>;
  annotations: Record<string, boolean>;
}

export interface ToolResult {
  content: { type: string; text: string }[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

export interface RpcReply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  body: {
    jsonrpc?: string;
    id?: unknown;
    result?: unknown;
    error?: { code: number; message: string };
  };
}

/** An assistant of a user: a token, and where to send it. */
export interface Assistant {
  url: string;
  token: string;
  user: TestUser;
}

export async function assistant(
  service: TestService,
  options: UserOptions = {},
): Promise<Assistant> {
  const user = await service.user(options);
  return { url: service.url, token: user.token, user };
}

/** Sends a body to the endpoint like a plain HTTP client, without a handshake. */
export async function post(
  { url, token }: Assistant,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<RpcReply> {
  const answer = await send(url, 'POST', '/api/mcp', {
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    agent: keptConnections,
  });
  const json = answer.body === '' ? {} : (JSON.parse(answer.body) as RpcReply['body']);
  return { status: answer.status, headers: answer.headers, text: answer.body, body: json };
}

export function rpc(method: string, params?: object, id: unknown = 1): object {
  return { jsonrpc: '2.0', id, method, ...(params ? { params } : {}) };
}

/** The metadata in the params of a stateless request, in revisions since 2026-07-28. */
export function statelessParams(version = '2026-07-28') {
  return {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
}

/** The same in the headers. */
export function statelessHeaders(version = '2026-07-28', method = 'tools/list') {
  return { 'MCP-Protocol-Version': version, 'Mcp-Method': method };
}

/** Calls a tool; returns its result, which may be an error. */
export async function callTool(
  caller: Assistant,
  name: string,
  given: unknown = {},
  headers: Record<string, string> = {},
): Promise<ToolResult> {
  const { status, body } = await post(
    caller,
    rpc('tools/call', { name, arguments: given }),
    headers,
  );
  if (status !== 200 || body.result === undefined) throw new Error(JSON.stringify(body));
  return body.result as ToolResult;
}

/** Calls a tool that must succeed; returns the structured result. */
export async function tool(
  caller: Assistant,
  name: string,
  given: unknown = {},
): Promise<Record<string, unknown>> {
  const { structuredContent, isError, content } = await callTool(caller, name, given);
  if (isError === true || !structuredContent) throw new Error(content[0]?.text);
  expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent);
  return structuredContent;
}

/** Calls a tool that must refuse; returns why. */
export async function refused(
  caller: Assistant,
  name: string,
  given: unknown = {},
): Promise<string> {
  const { isError, content, structuredContent } = await callTool(caller, name, given);
  expect(isError).toBe(true);
  expect(structuredContent).toBeUndefined();
  return content[0]?.text ?? '';
}

export async function listTools(caller: Assistant): Promise<Tool[]> {
  const { body } = await post(caller, rpc('tools/list'));
  return (body.result as { tools: Tool[] }).tools;
}

/** Validators of the input and output schemas of tools, by name. */
export function validators(
  tools: readonly Tool[],
): Map<string, { input: ValidateFunction; output: ValidateFunction }> {
  return new Map(
    tools.map(({ name, inputSchema, outputSchema }) => [
      name,
      { input: ajv.compile(inputSchema), output: ajv.compile(outputSchema) },
    ]),
  );
}
