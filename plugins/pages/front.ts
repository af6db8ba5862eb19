import type { Context } from 'koa';

import type { ApiDescription } from '../../src/plugins/protocol-endpoint';
import { languageOf, showPage } from './layout';
import { markup } from './markup';

/** The links, by their names in JSON. */
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
  title: 'A plant diary for apps and assistants',
  about:
    'This service keeps track of plants, their care and their photos. Use it through an app, or through an assistant such as Claude or ChatGPT.',
  signIn: ['Sign in', 'with a passkey or a password'],
  settings: ['Settings', 'your tokens, authorized apps, sessions and data'],
  api: ['API', 'reference for every operation; try them out'],
  openapi: ['OpenAPI document', 'the same, machine-readable'],
  guide: ['Guide', 'for app developers, step by step'],
  status: ['Status', 'whether the service is up'],
} as const;

const TEXTS: Readonly<
  Record<'en' | 'fr', Record<'title' | 'about', string> & Record<Place, readonly [string, string]>>
> = {
  en,
  fr: {
    title: 'Un carnet de plantes pour applications et assistants',
    about:
      'Ce service suit vos plantes, leurs soins et leurs photos. Utilisez-le dans une application, ou avec un assistant comme Claude ou ChatGPT.',
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

/** Links to what is served: a plugin may be missing, or people sign in elsewhere. */
function placesIn({ operations, protocols }: ApiDescription): Place[] {
  const served = new Set([...operations, ...protocols].map(({ path }) => path));
  // Files such as the guide are served beside their page.
  const isServed = (path: string): boolean =>
    served.has(path) || served.has(path.slice(0, path.lastIndexOf('/')));
  return (Object.keys(PLACES) as Place[]).filter((place) => isServed(PLACES[place])); // Of this very object.
}
