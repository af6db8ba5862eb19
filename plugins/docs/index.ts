import { notFound } from '../../src/core/errors';
import type { JsonSchema } from '../../src/fields/json-schema';
import { definePlugin } from '../../src/plugins/plugin';
import { openApiDocument } from './document';
import { serveFile, servePage } from './page';

const access = { public: 'what the API can do is no secret' };

const TEXT: JsonSchema = { type: 'string' };

/** The API's own description: for programs as OpenAPI, for people as a page. */
export default definePlugin({
  name: 'docs',
  requires: [],
  setup: () => ({
    transports: [
      {
        path: '/openapi.json',
        methods: {
          GET: {
            summary: 'The OpenAPI document',
            access,
            responses: {
              200: {
                description: 'OpenAPI 3.1',
                content: { 'application/json': { type: 'object' } },
              },
            },
            handler: async (ctx, api) => {
              ctx.type = 'application/json';
              ctx.body = JSON.stringify(openApiDocument(api));
            },
          },
        },
      },
      {
        path: '/docs',
        methods: {
          GET: {
            summary: 'The page for people',
            access,
            responses: { 200: { description: 'HTML', content: { 'text/html': TEXT } } },
            handler: servePage,
          },
        },
      },
      {
        path: '/docs/{file}',
        methods: {
          GET: {
            summary: 'The files of the page',
            access,
            responses: {
              200: {
                description: 'The file',
                content: { 'text/css': TEXT, 'text/javascript': TEXT },
              },
            },
            errors: [notFound],
            handler: serveFile,
          },
        },
      },
    ],
  }),
});
