import type { Context } from 'koa';

import { Content } from '../../src/core/http/content';
import { notFound } from '../../src/core/errors';
import { DAY_MS } from '../../src/core/time';
import type { JsonSchema } from '../../src/fields/json-schema';
import { definePlugin } from '../../src/plugins/plugin';
import { sendContent } from '../../src/plugins/send-content';
import type { ApiDescription } from '../../src/plugins/protocol-endpoint';
import { openApiCommand } from './commands';
import { openApiDocument } from './openapi/document';
import { serveFile, servePage } from './page';

const access = { public: 'what the API can do is no secret' };

const TEXT: JsonSchema = { type: 'string' };

/** The answer to a condition that holds, as of any static content. */
const NOT_MODIFIED = { 304: { description: 'The content is the one that the client has' } };

/** The API's own description: for programs as OpenAPI, for people as a page. */
export default definePlugin({
  name: 'docs',
  requires: [],
  tag: {
    name: 'Documents',
    description: 'This description: for programs as OpenAPI, for people as a page.',
  },
  commands: openApiCommand,
  setup: () => {
    let document: { day: number; content: Content } | undefined;
    const serveDocument = (ctx: Context, api: ApiDescription): Promise<void> => {
      // Its examples have days to come.
      const day = Math.floor(Date.now() / DAY_MS);
      if (document?.day !== day) {
        document = { day, content: new Content(JSON.stringify(openApiDocument(api))) };
      }
      ctx.set('Cache-Control', 'no-cache');
      return sendContent(ctx, document.content, 'application/json');
    };
    return {
      protocols: [
        {
          path: '/openapi.json',
          methods: {
            GET: {
              summary: 'The OpenAPI document',
              operationId: 'getOpenApiDocument',
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
          withSlash: true,
          methods: {
            GET: {
              summary: 'The page for people',
              operationId: 'getDocsPage',
              access,
              responses: {
                200: { description: 'HTML', content: { 'text/html': TEXT } },
                ...NOT_MODIFIED,
                308: { description: 'The page is at the path without a slash at its end' },
              },
              handler: servePage,
            },
          },
        },
        {
          path: '/docs/{file}',
          methods: {
            GET: {
              summary: 'The files of the page',
              operationId: 'getDocsFile',
              access,
              responses: {
                200: {
                  description: 'The file',
                  content: { 'text/css': TEXT, 'text/javascript': TEXT, 'text/markdown': TEXT },
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
