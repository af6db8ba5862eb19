import type { Context } from 'koa';

import type { ApiDescription } from '../../src/plugins/protocol-endpoint';
import { languageOf, showPage } from './layout';
import { markup } from './markup';

/** The links, by their names in JSON. */
const LINKS = {
  garden: '/garden',
  signIn: '/sign-in',
  settings: '/settings',
  api: '/docs',
  openapi: '/openapi.json',
  guide: '/docs/guide.md',
  status: '/readyz',
};
type Link = keyof typeof LINKS;

const en = {
  title: 'A plant diary for apps and assistants',
  about:
    'This service keeps track of plants, their care and their photos. Use it through an app, or through an assistant such as Claude or ChatGPT.',
  garden: ['Your garden', 'what is due today, and what you did'],
  signIn: ['Sign in', 'with a passkey or a password'],
  settings: ['Settings', 'your tokens, authorized apps, sessions and data'],
  api: ['API', 'reference for every operation; try them out'],
  openapi: ['OpenAPI document', 'the same, machine-readable'],
  guide: ['Guide', 'for app developers, step by step'],
  status: ['Status', 'whether the service is up'],
} as const;

const TEXTS: Readonly<
  Record<'en' | 'fr', Record<'title' | 'about', string> & Record<Link, readonly [string, string]>>
> = {
  en,
  fr: {
    title: 'Un carnet de plantes pour applications et assistants',
    about:
      'Ce service suit vos plantes, leurs soins et leurs photos. Utilisez-le dans une application, ou avec un assistant comme Claude ou ChatGPT.',
    garden: ['Votre jardin', 'ce qui est à faire aujourd’hui, et ce que vous avez fait'],
    signIn: ['Se connecter', 'avec une clé d’accès ou un mot de passe'],
    settings: ['Réglages', 'vos jetons, applications autorisées, sessions et données'],
    api: ['API', 'la référence de chaque opération, à essayer (en anglais)'],
    openapi: ['Document OpenAPI', 'la même chose, lisible par machine'],
    guide: ['Guide', 'pour développer une application, pas à pas (en anglais)'],
    status: ['État', 'le service fonctionne-t-il ?'],
  },
};

/** Shows what this is, and its links: a page for browsers, JSON for programs. */
export async function showFront(ctx: Context, api: ApiDescription): Promise<void> {
  const names = linksIn(api);
  ctx.vary('Accept');
  if (ctx.accepts('json', 'html') !== 'html') {
    const links = Object.fromEntries(names.map((name) => [name, LINKS[name]]));
    ctx.type = 'application/json';
    ctx.body = JSON.stringify({ name: 'Plant care API', links });
    return;
  }
  const texts = TEXTS[languageOf(ctx)];
  const items = names.map((link) => {
    const [name, what] = texts[link];
    return markup`<li><a href="${LINKS[link]}">${name}</a> – ${what}</li>`;
  });
  showPage(
    ctx,
    texts.title,
    markup`<p>${texts.about}</p>
      <ul>
        ${items}
      </ul>`,
  );
}

/** Links to what is served: a plugin may be missing, or people sign in elsewhere. */
function linksIn({ operations, protocols }: ApiDescription): Link[] {
  const served = new Set([...operations, ...protocols].map(({ path }) => path));
  // Files such as the guide are served beside their page.
  const isServed = (path: string): boolean =>
    served.has(path) || served.has(path.slice(0, path.lastIndexOf('/')));
  return (Object.keys(LINKS) as Link[]).filter((name) => isServed(LINKS[name])); // Of this very object.
}
