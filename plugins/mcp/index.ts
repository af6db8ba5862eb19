import {
  insufficientScope,
  invalidToken,
  payloadTooLarge,
  unsupportedMediaType,
} from '../../src/core/errors';
import { definePlugin } from '../../src/plugins/plugin';
import { descriptionBody, errorBody, requestBody, resultBody } from './bodies';
import { tokenRefused } from './access';
import { Endpoint, noEventStream } from './endpoint';
import { allowedOriginsSetting, originNotAllowed } from './origins';

const POST_DESCRIPTION =
  'A call that a tool refuses (an invalid argument, a missing record, an exceeded limit) returns a result with isError true, not an error; its text has the code, every fault and what to call next. A message that calls no operation (tools/list, a handshake, an unknown tool, an invalid request) spends one of the reads of the account; with none left it gets 429. A tool that the access token of an app does not allow gets 403, with the scopes to ask for in WWW-Authenticate. Clients whose Accept includes text/event-stream get errors of tokens as JSON-RPC errors.';

/** The path of the tool endpoint. */
export const TOOLS_PATH = '/api/mcp';

/** The operations of all plugins as tools for AI assistants (Model Context Protocol). */
export default definePlugin({
  name: 'mcp',
  requires: ['accounts'],
  settings: [allowedOriginsSetting],
  errors: [originNotAllowed],
  tag: {
    name: 'Tools',
    description: 'All operations as tools for AI assistants (Model Context Protocol).',
  },
  setup: (host) => {
    const endpoint = new Endpoint(host);
    return {
      protocols: [
        {
          path: TOOLS_PATH,
          // Some clients append a slash to the address.
          withSlash: true,
          prepare: (description) => {
            endpoint.prepare(description);
          },
          methods: {
            GET: {
              summary: 'Describe the tool endpoint',
              operationId: 'describeTools',
              access: { public: 'the list of tools is no secret' },
              responses: {
                200: {
                  description: 'All tools and scopes',
                  content: { 'application/json': descriptionBody },
                },
              },
              errors: [noEventStream],
              handler: (ctx, api) => endpoint.describe(ctx, api),
            },
            POST: {
              summary: 'Call tools by JSON-RPC 2.0 (Model Context Protocol)',
              operationId: 'callTool',
              access: { anyToken: 'each tool requires the scope of its operation' },
              description: POST_DESCRIPTION,
              body: requestBody,
              responses: {
                200: {
                  description: 'The result, or a JSON-RPC error',
                  headers: ['Idempotent-Replayed'],
                  content: { 'application/json': { anyOf: [resultBody, errorBody] } },
                },
                202: { description: 'The notification was accepted' },
                400: {
                  description: 'The body is not JSON, or not a JSON-RPC request',
                  content: { 'application/json': errorBody },
                },
                404: {
                  description: 'The method does not exist in the protocol version of the request',
                  content: { 'application/json': errorBody },
                },
              },
              tokenErrorBody: errorBody,
              errors: [
                invalidToken,
                tokenRefused,
                insufficientScope,
                originNotAllowed,
                unsupportedMediaType,
                payloadTooLarge,
              ],
              handler: (ctx, api) => endpoint.receive(ctx, api),
            },
          },
        },
      ],
    };
  },
});
