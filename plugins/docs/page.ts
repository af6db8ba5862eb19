import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { Context } from 'koa';

import { Content } from '../../src/core/content';
import { notFound } from '../../src/core/errors';
import { sendContent } from '../../src/plugins/send-content';

/** Found without loading the package, which takes a quarter of the program's start. */
const SWAGGER_UI = path.dirname(require.resolve('swagger-ui-dist/package.json'));

/** The files of Swagger UI that the page needs, with their media types. */
const SWAGGER_UI_FILES = new Map([
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
]);

const START = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#docs', deepLinking: true });`;

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
    </style>
  </head>
  <body>
    <div id="docs"></div>
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
export function servePage(ctx: Context): Promise<void> {
  ctx.set({ 'Cache-Control': 'no-cache', 'Content-Security-Policy': CONTENT_SECURITY_POLICY });
  return sendContent(ctx, page, 'text/html');
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
  const type = SWAGGER_UI_FILES.get(name);
  if (type === undefined) throw notFound.error();
  const file = { type, content: new Content(await readFile(path.join(SWAGGER_UI, name))) };
  files.set(name, file);
  return file;
}
