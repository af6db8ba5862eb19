import type { Context } from 'koa';

import { notFound } from '../../src/core/errors';
import type { JsonSchema } from '../../src/fields/json-schema';
import { definePlugin } from '../../src/plugins/plugin';
import type { ApiDescription } from '../../src/plugins/transport';
import { openApiDocument } from './document';
import { page, serveFile } from './page';
import { StaticContent } from './static-content';

const access = { public: 'what the API can do is no secret' };

const TEXT: JsonSchema = { type: 'string' };

/** The answer to a condition that holds, as of any static content. */
const NOT_MODIFIED = { 304: { description: 'The content is the one that the client has' } };

/** The API's own description: for programs as OpenAPI, for people as a page. */
export default definePlugin({
  name: 'docs',
  requires: [],
  setup: () => {
    let document: StaticContent | undefined;
    const serveDocument = (ctx: Context, api: ApiDescription): Promise<void> => {
      document ??= new StaticContent('application/json', JSON.stringify(openApiDocument(api)));
      return document.serve(ctx);
    };
    return {
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
                ...NOT_MODIFIED,
              },
              handler: serveDocument,
            },
          },
        },
        {
          path: '/docs',
          methods: {
            GET: {
              summary: 'The page for people',
              access,
              responses: {
                200: { description: 'HTML', content: { 'text/html': TEXT } },
                ...NOT_MODIFIED,
              },
              handler: (ctx) => page.serve(ctx),
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
                ...NOT_MODIFIED,
              },
              errors: [notFound],
              handler: serveFile,
            },
          },
        },
      ],
    };
  },
});
