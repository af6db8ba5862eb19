import { Content, sendContent } from '../../src/core/http/content';
import type { JsonSchema } from '../../src/fields/json-schema';
import { definePlugin } from '../../src/plugins/plugin';
import { getEndpoint, type ProtocolEndpoint } from '../../src/plugins/protocol-endpoint';
import { showFront } from './front';
import { SIGN, STYLE } from './style';

export { type Language, languageOf, type PageOptions, showPage, spokenOf } from './layout';
export { Html, markup } from './markup';

const access = { public: 'people see it before they sign in' };
const TEXT: JsonSchema = { type: 'string' };

/** Crawlers may read only the pages that are the same for everybody. */
const ROBOTS = 'User-agent: *\nAllow: /$\nAllow: /docs\nDisallow: /\n';

/** A file that browsers may cache for an hour. */
export function staticFile(
  path: string,
  { type, text, ...named }: { operationId: string; summary: string; type: string; text: string },
): ProtocolEndpoint {
  const content = new Content(text, type);
  const responses = {
    200: { description: 'The file', content: { [type]: TEXT } },
    304: { description: 'The client has the current content' },
  };
  return getEndpoint(path, {
    ...named,
    access,
    responses,
    handler: async (ctx) => {
      ctx.set('Cache-Control', 'public, max-age=3600');
      await sendContent(ctx, content);
    },
  });
}

/** The front page, and the layout of all pages. */
export default definePlugin({
  name: 'pages',
  requires: [],
  tag: { name: 'Front page', description: 'A description of the service, with links.' },
  setup: () => ({
    protocols: [
      getEndpoint('/', {
        operationId: 'getFrontPage',
        summary: 'Get the front page: a page for browsers, JSON for programs',
        access,
        responses: {
          200: {
            description: 'The page, or its links',
            content: { 'text/html': TEXT, 'application/json': { type: 'object' } },
          },
        },
        handler: showFront,
      }),
      staticFile('/pages.css', {
        operationId: 'getPagesStyle',
        summary: 'Get the style sheet of the pages',
        type: 'text/css',
        text: STYLE,
      }),
      staticFile('/favicon.ico', {
        operationId: 'getSign',
        summary: 'Get the icon of the service',
        type: 'image/svg+xml',
        text: SIGN,
      }),
      staticFile('/robots.txt', {
        operationId: 'getRobots',
        summary: 'Get the rules for crawlers',
        type: 'text/plain',
        text: ROBOTS,
      }),
    ],
  }),
});
