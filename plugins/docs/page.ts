import { readFileSync } from 'node:fs';
import path from 'node:path';

import type { Context } from 'koa';

import { notFound } from '../../src/core/errors';
import { StaticContent } from './static-content';

/** Found without loading the package, which takes a quarter of the program's start. */
const SWAGGER_UI = path.dirname(require.resolve('swagger-ui-dist/package.json'));

/** The files of Swagger UI that the page needs, with their media types. */
const SWAGGER_UI_FILES = new Map([
  ['swagger-ui.css', 'text/css'],
  ['swagger-ui-bundle.js', 'text/javascript'],
]);

const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true });`;

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Plant care API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="docs"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
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

/** The page that shows the OpenAPI document to people. */
export const page = new StaticContent('text/html', PAGE, {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
});

const FILE_HEADERS = { 'Cache-Control': 'public, max-age=3600' };
const files = new Map([['start.js', new StaticContent('text/javascript', START, FILE_HEADERS)]]);

/** A file that the page loads. @throws ApiError not_found */
export function serveFile(ctx: Context & { params?: Record<string, string> }): Promise<void> {
  return fileOf(ctx.params?.['file'] ?? '').serve(ctx);
}

/** Read once, when it is first asked for. */
function fileOf(name: string): StaticContent {
  const known = files.get(name);
  if (known) return known;
  const type = SWAGGER_UI_FILES.get(name);
  if (type === undefined) throw notFound.error();
  const file = new StaticContent(type, readFileSync(path.join(SWAGGER_UI, name)), FILE_HEADERS);
  files.set(name, file);
  return file;
}
