import type { Context } from 'koa';

import { Content, sendContent } from '../../src/core/http/content';
import { notFound } from '../../src/core/errors';
import { hostSettings } from '../../src/core/settings/host-settings';
import { DAY_MS } from '../../src/core/time';
import type { JsonSchema } from '../../src/fields/json-schema';
import { definePlugin } from '../../src/plugins/plugin';
import { type ApiDescription, getEndpoint } from '../../src/plugins/protocol-endpoint';
import { openApiCommand } from './commands';
import { openApiDocument } from './openapi/document';
import { serveFile, servePage } from './page';

const access = { public: 'what the API can do is no secret' };

const TEXT: JsonSchema = { type: 'string' };

/** The response to a condition that holds. */
const NOT_MODIFIED = { 304: { description: 'The client has the current content' } };

/** The description of the API, as OpenAPI and as a page. */
export default definePlugin({
  name: 'docs',
  requires: [],
  tag: {
    name: 'Documents',
    description: 'This description, as OpenAPI and as a page.',
  },
  commands: openApiCommand,
  setup: ({ settings }) => {
    const server = settings.of(hostSettings.publicUrl);
    let document: { day: number; content: Content } | undefined;
    const serveDocument = (ctx: Context, api: ApiDescription): Promise<void> => {
      // Its examples have future days.
      const day = Math.floor(Date.now() / DAY_MS);
      if (document?.day !== day) {
        document = { day, content: new Content(JSON.stringify(openApiDocument(api, server))) };
      }
      ctx.set('Cache-Control', 'no-cache');
      return sendContent(ctx, document.content);
    };
    return {
      protocols: [
        getEndpoint('/openapi.json', {
          summary: 'Read the OpenAPI document',
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
        }),
        {
          ...getEndpoint('/docs', {
            summary: 'Read this page',
            operationId: 'getDocsPage',
            access,
            responses: {
              200: { description: 'HTML', content: { 'text/html': TEXT } },
              ...NOT_MODIFIED,
              308: { description: 'The page is at the path without the final slash' },
            },
            handler: servePage,
          }),
          withSlash: true,
        },
        getEndpoint('/docs/{file}', {
          summary: 'Read a file of the page',
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
        }),
      ],
    };
  },
});
