import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { Context } from 'koa';

import { Content } from '../../src/core/http/content';
import { CONVENTIONS } from './conventions';
import { notFound } from '../../src/core/errors';
import { PROJECT_FOLDER } from '../../src/core/settings/project';
import { sendContent } from '../../src/plugins/send-content';

/** Found without loading the package, which takes a quarter of the program's start. */
const SWAGGER_UI = path.dirname(require.resolve('swagger-ui-dist/package.json'));

/** The files of Swagger UI that the page needs, with their media types. */
const SWAGGER_UI_FILES = new Map([
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
]);

/** The guide for developers of apps, where the program was installed with it. */
const GUIDE = path.join(PROJECT_FOLDER, 'docs/guide.md');

/** Shows the resources first: what the document begins with stands below them, on the page. */
const START = `const shortened = (spec) => ({
  ...spec,
  info: {
    ...spec.info,
    description: [
      spec.info.description?.split('\\n')[0],
      'See [what holds for every request](#rules) and the [guide for app developers](docs/guide.md).',
    ].join(' '),
  },
});
const resourcesFirst = () => ({
  statePlugins: {
    spec: { wrapActions: { updateJsonSpec: (show) => (spec) => show(shortened(spec)) } },
  },
});
SwaggerUIBundle({
  url: 'openapi.json', dom_id: '#docs', deepLinking: true, plugins: [resourcesFirst],
});`;

/** A rule as HTML: what it has of Markdown is code. */
function html(rule: string): string {
  const safe = rule.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return safe.replace(/`([^`]+)`/g, '<code>$1</code>');
}

const RULES = CONVENTIONS.map(
  ({ topic, rule }) => `        <dt>${topic}</dt>\n        <dd>${html(rule)}</dd>`,
).join('\n');

// Links are relative, since a proxy may have put a prefix before all paths.
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Plant care API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <style>
      /* On a phone wide tables scroll by themselves, and not with the page. */
      .swagger-ui .responses-inner, .swagger-ui .table-container { overflow-x: auto; }
      #rules { max-width: 1420px; margin: 0 auto 4rem; padding: 0 20px; color: #3b4151;
        font: 14px/1.6 sans-serif; overflow-wrap: break-word; }
      #rules dt { font-weight: bold; margin-top: 1em; }
      #rules dd { margin: 0; max-width: 50rem; }
    </style>
  </head>
  <body>
    <div id="docs"></div>
    <section id="rules">
      <h2>What holds for every request</h2>
      <dl>
${RULES}
      </dl>
    </section>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

// The page loads its own files only, belongs to no other page and sends no form; Swagger UI sets
// styles on elements as it goes.
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = new Content(PAGE);

/** The page that shows the OpenAPI document to people. */
export async function servePage(ctx: Context): Promise<void> {
  if (ctx.path.endsWith('/')) {
    // Its links lead elsewhere from there.
    ctx.redirect('../docs');
    ctx.status = 308;
    ctx.body = '';
    return;
  }
  ctx.set({ 'Cache-Control': 'no-cache', 'Content-Security-Policy': CONTENT_SECURITY_POLICY });
  await sendContent(ctx, page, 'text/html');
}

interface PageFile {
  type: string;
  content: Content;
}

const files = new Map([['start.js', { type: 'text/javascript', content: new Content(START) }]]);

/** A file that the page loads. @throws ApiError not_found */
export async function serveFile(ctx: Context & { params?: Record<string, string> }): Promise<void> {
  const { content, type } = await fileOf(ctx.params?.['file'] ?? '');
  ctx.set('Cache-Control', 'public, max-age=3600');
  await sendContent(ctx, content, type);
}

/** Read once, when it is first asked for. */
async function fileOf(name: string): Promise<PageFile> {
  const known = files.get(name);
  if (known) return known;
  // An image may be without it.
  if (name === 'guide.md' && existsSync(GUIDE)) return kept(name, 'text/markdown', GUIDE);
  const type = SWAGGER_UI_FILES.get(name);
  if (type === undefined) throw notFound.error();
  return kept(name, type, path.join(SWAGGER_UI, name));
}

async function kept(name: string, type: string, place: string): Promise<PageFile> {
  const file = { type, content: new Content(await readFile(place)) };
  files.set(name, file);
  return file;
}
