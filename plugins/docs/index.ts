import { definePlugin } from '../../src/plugins/plugin';
import { openApiDocument } from './document';
import { serveFile, servePage } from './page';

const access = { public: 'what the API can do is no secret' };

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
          GET: { summary: 'The page for people', access, handler: servePage },
        },
      },
      {
        path: '/docs/{file}',
        methods: { GET: { summary: 'The files of the page', access, handler: serveFile } },
      },
    ],
  }),
});
