import type { Context } from 'koa';

import type { ApiDescription } from '../../src/plugins/protocol-endpoint';
import { languageOf, showPage } from './layout';
import { markup } from './markup';

/** What there is to go to, by the name that programs know it by. */
const PLACES = {
  signIn: '/sign-in',
  settings: '/settings',
  api: '/docs',
  openapi: '/openapi.json',
  guide: '/docs/guide.md',
  status: '/readyz',
};
type Place = keyof typeof PLACES;

const en = {
  title: 'A diary of plants, for apps and assistants',
  about:
    'This service keeps plants, what care they need and got, and their photos. People reach it through an app, or through an assistant such as Claude or ChatGPT.',
  signIn: ['Sign in', 'with a passkey or a password'],
  settings: ['Settings', 'your tokens, programs, sessions and data'],
  api: ['API', 'every operation, to read and to try'],
  openapi: ['OpenAPI document', 'the same for programs'],
  guide: ['Guide', 'for developers of apps, step by step'],
  status: ['Status', 'whether the service can serve'],
} as const;

const TEXTS: Readonly<
  Record<'en' | 'fr', Record<'title' | 'about', string> & Record<Place, readonly [string, string]>>
> = {
  en,
  fr: {
    title: 'Un carnet de plantes, pour applications et assistants',
    about:
      'Ce service garde les plantes, les soins qu’elles demandent et reçoivent, et leurs photos. On y accède par une application, ou par un assistant comme Claude ou ChatGPT.',
    signIn: ['Se connecter', 'avec une clé d’accès ou un mot de passe'],
    settings: ['Réglages', 'jetons, programmes, sessions et données'],
    api: ['API', 'chaque opération, à lire et à essayer (en anglais)'],
    openapi: ['Document OpenAPI', 'la même chose pour les programmes'],
    guide: ['Guide', 'pour qui développe une application (en anglais)'],
    status: ['État', 'si le service peut servir'],
  },
};

/** What this is, and where to go: a page for browsers, JSON for programs. */
export async function showFront(ctx: Context, api: ApiDescription): Promise<void> {
  const places = placesIn(api);
  ctx.vary('Accept');
  if (ctx.accepts('json', 'html') !== 'html') {
    const links = Object.fromEntries(places.map((place) => [place, PLACES[place]]));
    ctx.type = 'application/json';
    ctx.body = JSON.stringify({ name: 'Plant care API', links });
    return;
  }
  const texts = TEXTS[languageOf(ctx)];
  const items = places.map((place) => {
    const [name, what] = texts[place];
    return markup`<li><a href="${PLACES[place]}">${name}</a> – ${what}</li>`;
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

/** Those that are served here: a plugin may be missing, or people sign in elsewhere. */
function placesIn({ operations, protocols }: ApiDescription): Place[] {
  const served = new Set([...operations, ...protocols].map(({ path }) => path));
  // A file is beside the page that it belongs to.
  const isServed = (path: string): boolean =>
    served.has(path) || served.has(path.slice(0, path.lastIndexOf('/')));
  return (Object.keys(PLACES) as Place[]).filter((place) => isServed(PLACES[place])); // Of this very object.
}
