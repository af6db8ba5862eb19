import type { JsonSchema } from '../../src/fields/json-schema';

const VERSION: JsonSchema = { type: 'string', enum: ['2.0'] };
const ID: JsonSchema = { type: ['string', 'integer'], examples: [1] };

/** The response of `GET /api/mcp` (docs/specification.md, 4.4). */
export const descriptionBody: JsonSchema = {
  title: 'ToolEndpoint',
  type: 'object',
  required: ['name', 'version', 'auth', 'scopes', 'tools'],
  properties: {
    name: { type: 'string' },
    version: { type: 'string' },
    auth: { type: 'string' },
    scopes: { type: 'array', items: { type: 'string' } },
    tools: { type: 'array', items: { type: 'string' } },
  },
  additionalProperties: false,
};

/** A JSON-RPC 2.0 request; without an id, a notification. */
export const requestBody: JsonSchema = {
  title: 'JsonRpcRequest',
  type: 'object',
  required: ['jsonrpc', 'method'],
  properties: {
    jsonrpc: VERSION,
    method: { type: 'string', examples: ['tools/call'] },
    params: { type: 'object', examples: [{ name: 'list_locations', arguments: {} }] },
    id: { ...ID, description: 'Absent in notifications' },
  },
};

/** The result of a request; `isError` of a tool call's result says whether it failed. */
export const resultBody: JsonSchema = {
  title: 'JsonRpcResult',
  type: 'object',
  required: ['jsonrpc', 'id', 'result'],
  properties: {
    jsonrpc: VERSION,
    id: ID,
    result: { type: 'object' },
  },
  additionalProperties: false,
};

/** A JSON-RPC 2.0 error. */
export const errorBody: JsonSchema = {
  title: 'JsonRpcError',
  type: 'object',
  required: ['jsonrpc', 'id', 'error'],
  properties: {
    jsonrpc: VERSION,
    id: {
      type: ['string', 'integer', 'null'],
      description: 'null when the request has no readable id',
    },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'integer' }, message: { type: 'string' }, data: {} },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};
