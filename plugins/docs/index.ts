import type { Context } from 'koa';

import { definePlugin } from '../../src/plugins/plugin';
import type { TransportApi } from '../../src/plugins/transport';
import { openApiDocument } from './document';
import { page, serveFile } from './page';
import { StaticContent } from './static-content';

const access = { public: 'what the API can do is no secret' };

/** The API's own description: for programs as OpenAPI, for people as a page. */
export default definePlugin({
  name: 'docs',
  requires: [],
  setup: () => {
    let document: StaticContent | undefined;
    const serveDocument = (ctx: Context, api: TransportApi): Promise<void> => {
      document ??= new StaticContent('application/json', JSON.stringify(openApiDocument(api)));
      return document.serve(ctx);
    };
    return {
      transports: [
        {
          path: '/openapi.json',
          methods: {
            GET: { summary: 'The OpenAPI document', access, handler: serveDocument },
          },
        },
        {
          path: '/docs',
          methods: {
            GET: { summary: 'The page for people', access, handler: (ctx) => page.serve(ctx) },
          },
        },
        {
          path: '/docs/{file}',
          methods: { GET: { summary: 'The files of the page', access, handler: serveFile } },
        },
      ],
    };
  },
});
