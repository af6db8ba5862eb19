import { Content } from '../../src/core/http/content';
import type { JsonSchema } from '../../src/fields/json-schema';
import { definePlugin } from '../../src/plugins/plugin';
import type { ProtocolEndpoint } from '../../src/plugins/protocol-endpoint';
import { sendContent } from '../../src/plugins/send-content';
import { showFront } from './front';
import { SIGN, STYLE } from './style';

export { type Language, languageOf, type PageOptions, showPage } from './layout';
export { Html, markup } from './markup';

const access = { public: 'what people see of the service before they sign in' };
const TEXT: JsonSchema = { type: 'string' };

/** What crawlers may read: pages that say something to everybody. */
const ROBOTS = 'User-agent: *\nAllow: /$\nAllow: /docs\nDisallow: /\n';

/** A file that every browser may keep for an hour. */
export function staticFile(
  path: string,
  { type, text, ...named }: { operationId: string; summary: string; type: string; text: string },
): ProtocolEndpoint {
  const content = new Content(text);
  const responses = {
    200: { description: 'The file', content: { [type]: TEXT } },
    304: { description: 'The content is the one that the client has' },
  };
  return {
    path,
    methods: {
      GET: {
        ...{ ...named, access, responses },
        handler: async (ctx) => {
          ctx.set('Cache-Control', 'public, max-age=3600');
          await sendContent(ctx, content, type);
        },
      },
    },
  };
}

/** The front page, and how all pages for people look. */
export default definePlugin({
  name: 'pages',
  requires: [],
  tag: { name: 'Front page', description: 'What this is, and where to go.' },
  setup: () => ({
    protocols: [
      {
        path: '/',
        methods: {
          GET: {
            operationId: 'getFrontPage',
            summary: 'What this is, and where to go: a page for browsers, JSON for programs',
            access,
            responses: {
              200: {
                description: 'The page, or its links',
                content: { 'text/html': TEXT, 'application/json': { type: 'object' } },
              },
            },
            handler: showFront,
          },
        },
      },
      staticFile('/pages.css', {
        operationId: 'getPagesStyle',
        summary: 'The style of the pages',
        type: 'text/css',
        text: STYLE,
      }),
      staticFile('/favicon.ico', {
        operationId: 'getSign',
        summary: 'The sign of the service',
        type: 'image/svg+xml',
        text: SIGN,
      }),
      staticFile('/robots.txt', {
        operationId: 'getRobots',
        summary: 'What crawlers may read',
        type: 'text/plain',
        text: ROBOTS,
      }),
    ],
  }),
});
