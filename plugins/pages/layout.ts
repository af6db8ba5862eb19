import type { Context } from 'koa';

import { type Html, markup } from './markup';

/** Pages load only the program's own style sheets and icon. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];
/** Also photos, from wherever people keep them, and what a device needs to install the pages. */
const APP_POLICY = CONTENT_SECURITY_POLICY.map((directive) =>
  directive.startsWith('img-src') ? `${directive} https:` : directive,
).concat("manifest-src 'self'", "worker-src 'self'");

export type Language = 'en' | 'fr';

/** The prefix of the titles of error pages. */
const FAULT = { en: 'Error: ', fr: 'Erreur : ' };

export interface PageOptions {
  status?: number;
  /** Whether a form on it ends in a redirect to another site, which `form-action` would block in Chromium. */
  mayLeave?: boolean;
  /** The path of its script. */
  script?: string | undefined;
  /** What just happened: the title begins with it, which screen readers read first. */
  news?: string | undefined;
  /** Whether its address has a secret, which no other address may learn as its referrer. */
  isSecret?: boolean | undefined;
  /** Pages that are an app of their own. */
  app?: PageApp;
}

export interface PageApp {
  /** The path of a second style sheet. */
  style: string;
  /** The path of the web app manifest, if it can be installed. */
  manifest?: string | undefined;
  /** Links of the header. */
  links: Html;
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
  { status = 200, mayLeave = false, script, news, isSecret = false, app }: PageOptions = {},
): void {
  const policy = [
    ...(app ? APP_POLICY : CONTENT_SECURITY_POLICY),
    ...(mayLeave ? [] : ["form-action 'self'"]),
    ...(script === undefined ? [] : ["script-src 'self'"]),
  ];
  ctx.status = status;
  ctx.set({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy.join('; '),
    'Referrer-Policy': isSecret ? 'no-referrer' : 'same-origin',
    'X-Frame-Options': 'DENY',
  });
  ctx.vary('Accept-Language');
  const fault = status >= 400 && FAULT[languageOf(ctx)];
  ctx.type = 'text/html';
  ctx.body = markup`<!doctype html>
    <html lang="${languageOf(ctx)}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${fault}${news && `${news} – `}${title} – Plant care</title>
        <link rel="icon" href="/favicon.ico" type="image/svg+xml" />
        <link rel="stylesheet" href="/pages.css" />
        ${
          app &&
          markup`<link rel="stylesheet" href="${app.style}" />
        ${app.manifest !== undefined && markup`<link rel="manifest" href="${app.manifest}" />`}`
        }
        ${script !== undefined && markup`<script src="${script}" defer></script>`}
      </head>
      <body>
        <header>
          <a href="/"><img src="/favicon.ico" alt="" width="24" height="24" />Plant care</a>
          ${app?.links}
        </header>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `.text;
}
