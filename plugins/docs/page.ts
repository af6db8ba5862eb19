import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { Context } from 'koa';

import { notFound } from '../../src/core/errors';

/** Found without loading the package, which takes a quarter of the program's start. */
const SWAGGER_UI = path.dirname(require.resolve('swagger-ui-dist/package.json'));

/** The files of Swagger UI that the page needs, with their media types. */
const FILES = new Map([
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

/** The page that shows the OpenAPI document to people. */
export async function servePage(ctx: Context): Promise<void> {
  // The page loads its own files only; Swagger UI sets styles on elements as it goes.
  ctx.set(
    'Content-Security-Policy',
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'",
  );
  ctx.type = 'html';
  ctx.body = PAGE;
}

/** A file that the page loads. @throws ApiError not_found */
export async function serveFile(ctx: Context & { params?: Record<string, string> }): Promise<void> {
  const name = ctx.params?.['file'] ?? '';
  const type = FILES.get(name);
  if (name !== 'start.js' && type === undefined) throw notFound.error();
  ctx.type = type ?? 'text/javascript';
  ctx.set('Cache-Control', 'public, max-age=3600');
  ctx.body = type === undefined ? START : await readFile(path.join(SWAGGER_UI, name));
}
