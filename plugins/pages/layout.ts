import type { Context } from 'koa';

import { type Html, markup } from './markup';

/** Pages load only the program's own style sheet and icon. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

export type Language = 'en' | 'fr';

/** The prefix of the titles of error pages. */
const FAULT = { en: 'Error: ', fr: 'Erreur : ' };

export interface PageOptions {
  status?: number;
  /** Whether a form on it ends in a redirect to another site, which `form-action` would block in Chromium. */
  mayLeave?: boolean;
  /** The path of its script. */
  script?: string | undefined;
}

/** The language that the browser prefers, of those that are available. */
export function languageOf(ctx: Context): Language {
  return ctx.acceptsLanguages('en', 'fr') === 'fr' ? 'fr' : 'en';
}

/** The language of the texts for a person who reads a language. */
export function spokenOf(language: string): Language {
  return new Intl.Locale(language).language === 'fr' ? 'fr' : 'en';
}

/** Responds with a page. */
export function showPage(
  ctx: Context,
  title: string,
  content: Html,
  { status = 200, mayLeave = false, script }: PageOptions = {},
): void {
  const policy = [
    ...CONTENT_SECURITY_POLICY,
    ...(mayLeave ? [] : ["form-action 'self'"]),
    ...(script === undefined ? [] : ["script-src 'self'"]),
  ];
  ctx.status = status;
  ctx.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
  });
  ctx.vary('Accept-Language');
  ctx.type = 'text/html';
  ctx.body = markup`<!doctype html>
    <html lang="${languageOf(ctx)}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${status >= 400 && FAULT[languageOf(ctx)]}${title} – Plant care</title>
        <link rel="icon" href="/favicon.ico" type="image/svg+xml" />
        <link rel="stylesheet" href="/pages.css" />
        ${script !== undefined && markup`<script src="${script}" defer></script>`}
      </head>
      <body>
        <header>
          <a href="/"><img src="/favicon.ico" alt="" width="24" height="24" />Plant care</a>
        </header>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `.text;
}
