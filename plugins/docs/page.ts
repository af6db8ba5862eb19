import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { Context } from 'koa';

import { Content, sendContent } from '../../src/core/http/content';
import { CONVENTIONS } from './conventions';
import { notFound } from '../../src/core/errors';
import { PROJECT_FOLDER } from '../../src/core/settings/project';

/** Resolved without loading the package, which would take a quarter of the start-up time. */
const SWAGGER_UI = path.dirname(require.resolve('swagger-ui-dist/package.json'));

/** The files of Swagger UI that the page needs, with their media types. */
const SWAGGER_UI_FILES = new Map([
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
]);

/** The guide for app developers, if it was installed. */
const GUIDE = path.join(PROJECT_FOLDER, 'docs/guide.md');

/**
 * Shows the resources first: the page has the rules below them. Its server is where the page was loaded. The resources
 * are closed, since of 150 lines or more Swagger UI has only those in view in the page, and browsers find no others.
 */
const START = `const shortened = (spec) => ({
  ...spec,
  servers: [{ url: new URL('.', location).href.replace(/\\/$/, '') }],
  info: {
    ...spec.info,
    description: [
      spec.info.description?.split('\\n')[0],
      'See [the rules for all requests](#rules) and the [guide for app developers](docs/guide.md).',
    ].join(' '),
  },
});
const resourcesFirst = () => ({
  statePlugins: {
    spec: { wrapActions: { updateJsonSpec: (show) => (spec) => show(shortened(spec)) } },
  },
});
SwaggerUIBundle({
  url: 'openapi.json', dom_id: '#docs', deepLinking: true, docExpansion: 'none', plugins: [resourcesFirst],
});`;

/** A rule as HTML; its only Markdown is code. */
function html(rule: string): string {
  const safe = rule.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return safe.replace(/`([^`]+)`/g, '<code>$1</code>');
}

const RULES = CONVENTIONS.map(
  ({ topic, rule }) => `        <dt>${topic}</dt>\n        <dd>${html(rule)}</dd>`,
).join('\n');

// Links are relative: a proxy may add a prefix to all paths.
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Plant care API</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <style>
      /* On phones wide tables scroll by themselves. */
      .swagger-ui .responses-inner, .swagger-ui .table-container { overflow-x: auto; }
      @media (max-width: 600px) {
        .swagger-ui .opblock-tag { flex-wrap: wrap; }
        .swagger-ui .opblock-tag small { flex: 1 0 100%; order: 1; padding: 0; }
      }
      #rules { max-width: 1420px; margin: 0 auto 4rem; padding: 0 20px; color: #3b4151;
        font: 14px/1.6 sans-serif; overflow-wrap: break-word; }
      #rules dt { font-weight: bold; margin-top: 1em; }
      #rules dd { margin: 0; max-width: 50rem; }
    </style>
  </head>
  <body>
    <div id="docs"></div>
    <section id="rules">
      <h2>Rules for all requests</h2>
      <dl>
${RULES}
      </dl>
    </section>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

// The page loads only its own files, is not framed, and sends no forms. Swagger UI sets inline styles.
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const page = new Content(PAGE, 'text/html');

/** Serves the page that shows the OpenAPI document. */
export async function servePage(ctx: Context): Promise<void> {
  if (ctx.path.endsWith('/')) {
    // Relative links would not work from there.
    ctx.redirect('../docs');
    ctx.status = 308;
    ctx.body = '';
    return;
  }
  ctx.set({ 'Cache-Control': 'no-cache', 'Content-Security-Policy': CONTENT_SECURITY_POLICY });
  await sendContent(ctx, page);
}

const files = new Map([['start.js', new Content(START, 'text/javascript')]]);

/** Serves a file of the page. @throws ApiError not_found */
export async function serveFile(ctx: Context & { params?: Record<string, string> }): Promise<void> {
  const content = await fileOf(ctx.params?.['file'] ?? '');
  ctx.set('Cache-Control', 'public, max-age=3600');
  await sendContent(ctx, content);
}

/** Files are read once, when first requested. */
async function fileOf(name: string): Promise<Content> {
  const known = files.get(name);
  if (known) return known;
  // A container image may lack it.
  if (name === 'guide.md' && existsSync(GUIDE)) return kept(name, 'text/markdown', GUIDE);
  const type = SWAGGER_UI_FILES.get(name);
  if (type === undefined) throw notFound.error();
  return kept(name, type, path.join(SWAGGER_UI, name));
}

async function kept(name: string, type: string, place: string): Promise<Content> {
  const file = new Content(await readFile(place), type);
  files.set(name, file);
  return file;
}
