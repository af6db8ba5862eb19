import type { JsonSchema } from '../../src/fields/json-schema';

const VERSION: JsonSchema = { type: 'string', enum: ['2.0'] };
const ID: JsonSchema = { type: ['string', 'integer'], examples: [1] };

/** What `GET /api/mcp` answers (docs/specification.md, 4.4). */
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

/** A request of JSON-RPC 2.0; a notification where it has no id. */
export const requestBody: JsonSchema = {
  title: 'JsonRpcRequest',
  type: 'object',
  required: ['jsonrpc', 'method'],
  properties: {
    jsonrpc: VERSION,
    method: { type: 'string', examples: ['tools/call'] },
    params: { type: 'object', examples: [{ name: 'list_locations', arguments: {} }] },
    id: { ...ID, description: 'Left out by a notification' },
  },
};

/** The result of a request; that of a tool call says in `isError` whether it was refused. */
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

/** An error of JSON-RPC 2.0. */
export const errorBody: JsonSchema = {
  title: 'JsonRpcError',
  type: 'object',
  required: ['jsonrpc', 'id', 'error'],
  properties: {
    jsonrpc: VERSION,
    id: { type: ['string', 'integer', 'null'], description: 'null where none could be read' },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'integer' }, message: { type: 'string' }, data: {} },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};
