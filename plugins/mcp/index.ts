import { invalidToken, payloadTooLarge, unsupportedMediaType } from '../../src/core/errors';
import { definePlugin } from '../../src/plugins/plugin';
import { descriptionBody, errorBody, requestBody, resultBody } from './bodies';
import { Endpoint, noEventStream, tokenRefused } from './endpoint';
import { allowedOriginsSetting, originNotAllowed } from './origins';

const POST_DESCRIPTION =
  'What a tool refuses (a wrong argument, a missing record, a spent limit) is a result with isError true, and no error: its text names the code, every fault and what to call next. A message that calls no operation (a list of tools, a handshake, an unknown tool, what is no request) spends one of the reads of the account; without any left it is answered with 429. A missing or bad token is told in an error of JSON-RPC to those whose Accept names text/event-stream.';

/** The operations of all plugins as tools for AI assistants (Model Context Protocol). */
export default definePlugin({
  name: 'mcp',
  requires: [],
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
          path: '/api/mcp',
          // Some clients append one to the address that they were given.
          withSlash: true,
          prepare: (description) => {
            endpoint.prepare(description);
          },
          methods: {
            GET: {
              summary: 'Describe the tool endpoint',
              operationId: 'describeTools',
              access: { public: 'which tools there are is no secret' },
              responses: {
                200: {
                  description: 'The tools and scopes that there are',
                  content: { 'application/json': descriptionBody },
                },
              },
              errors: [noEventStream],
              handler: (ctx, api) => endpoint.describe(ctx, api),
            },
            POST: {
              summary: 'Call tools by JSON-RPC 2.0 (Model Context Protocol)',
              operationId: 'callTool',
              access: { anyToken: 'each tool asks for the scope of its operation' },
              description: POST_DESCRIPTION,
              body: requestBody,
              responses: {
                200: {
                  description: 'The result, or an error of JSON-RPC',
                  content: { 'application/json': { anyOf: [resultBody, errorBody] } },
                },
                202: { description: 'A notification was taken' },
                400: {
                  description: 'What was sent is not JSON, or no request of JSON-RPC',
                  content: { 'application/json': errorBody },
                },
                404: {
                  description: 'The revision that the request names has no such method',
                  content: { 'application/json': errorBody },
                },
              },
              tokenErrorBody: errorBody,
              errors: [
                invalidToken,
                tokenRefused,
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
