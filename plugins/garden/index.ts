import { ApiError } from '../../src/core/errors';
import { definePlugin } from '../../src/plugins/plugin';
import eventsPlugin from '../events';
import membersPlugin from '../members';
import oauthPlugin, { type PersonalPages } from '../oauth';
import { type Html, markup, staticFile } from '../pages';
import { sentenceOf, submit } from './actions';
import { PATHS, SCRIPT, WORKER } from './device';
import type { News } from './news';
import { headOf, linksOf } from './head';
import { overview } from './overview';
import { plantPage } from './plant-page';
import { STYLE } from './style';
import { PageContext } from './page-context';

const APP = { style: '/garden.css', manifest: '/garden.webmanifest' };

/** Lets people install the garden on a home screen. */
const MANIFEST = JSON.stringify({
  name: 'Plant care',
  start_url: '/garden',
  scope: '/',
  display: 'standalone',
  icons: [{ src: '/favicon.ico', type: 'image/svg+xml', sizes: 'any' }],
});

type Shown = Parameters<PersonalPages['page']>[2];
type Sent = Parameters<PersonalPages['form']>[2];

/** What a garden needs, and each of its plants, for its owner, for members and for sitters. */
export default definePlugin({
  name: 'garden',
  requires: [
    'accounts',
    'care',
    'events',
    'insights',
    'members',
    'oauth',
    'pages',
    'photos',
    'plants',
    'profile',
    'reminders',
  ],
  tag: { name: 'Garden', description: 'Pages on which people look after their plants.' },
  setup: (host) => {
    const { pages } = host.use(oauthPlugin);
    const plugins = { events: host.use(eventsPlugin).events, gardens: host.use(membersPlugin) };
    const shown: Shown = (request, place) => show(new PageContext(request, place, plugins));
    const sent: Sent = (request, place, form) =>
      change(new PageContext(request, place, plugins), form);
    const doors = [
      { base: '/garden', of: '', words: 'the garden', door: pages },
      { base: '/gardens/{garden}', of: 'Shared', words: 'a shared garden', door: pages },
      {
        base: '/sitter/{secret}',
        of: 'Sitter',
        words: 'a garden for a sitter',
        door: pages.sitter,
      },
    ];
    return {
      protocols: [
        ...doors.flatMap(({ base, of, words, door: { page, form } }) => [
          {
            path: base,
            methods: {
              GET: page(`get${of}GardenPage`, `Get the page of ${words}`, shown),
              POST: form(`change${of}Garden`, `Submit a form of ${words}`, sent),
            },
          },
          {
            path: `${base}/{id}`,
            methods: {
              GET: page(`get${of}PlantPage`, `Get the page of a plant in ${words}`, shown),
              POST: form(`change${of}PlantPage`, `Submit a form of a plant in ${words}`, sent),
            },
          },
        ]),
        staticFile(APP.style, {
          operationId: 'getGardenStyle',
          summary: 'Get the style sheet of the garden',
          type: 'text/css',
          text: STYLE,
        }),
        staticFile(PATHS.script, {
          operationId: 'getGardenScript',
          summary: 'Get the script of the garden',
          type: 'text/javascript',
          text: SCRIPT,
        }),
        staticFile(PATHS.worker, {
          operationId: 'getGardenWorker',
          summary: 'Get the script that shows reminders in a browser',
          type: 'text/javascript',
          text: WORKER,
        }),
        staticFile(APP.manifest, {
          operationId: 'getGardenManifest',
          summary: 'Get the web app manifest of the garden',
          type: 'application/manifest+json',
          text: MANIFEST,
        }),
      ],
    };
  },
});

/** What is shown of a garden, or of a plant. */
interface Page {
  content: Html;
  news?: News | undefined;
  /** The path of its script. */
  script?: string;
}

/** Handles a form, and redirects to the page that shows what it did. */
async function change(context: PageContext, form: URLSearchParams): Promise<void> {
  try {
    context.request.redirect(await submit(context, form));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await show(context, error);
  }
}

/** Shows the page of the request, or why it cannot be shown. */
async function show(context: PageContext, refusal?: ApiError): Promise<void> {
  try {
    await showPage(context, refusal);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const back = markup`<p><a href="${context.base}">${context.title}</a></p>`;
    await respond(context, { title: context.title, content: back }, error);
  }
}

async function showPage(context: PageContext, refusal: ApiError | undefined): Promise<void> {
  const { id } = context.request.ctx.params as { id?: string };
  const page: Page & { title?: string } =
    id === undefined ? await overview(context) : await plantPage(context, id);
  await respond(context, { title: context.title, ...page }, refusal);
}

async function respond(
  context: PageContext,
  { title, content, news, script }: Page & { title: string },
  refusal: ApiError | undefined,
): Promise<void> {
  const { request, place } = context;
  const fault =
    refusal &&
    markup`<p class="fault" role="alert" tabindex="-1" autofocus>${sentenceOf(context, refusal)}</p>`;
  if (refusal) request.ctx.set(refusal.headers);
  const { person } = place;
  const isSecret = person === undefined;
  request.show(title, markup`${fault} ${await headOf(context)} ${content}`, {
    status: refusal ? statusOf(refusal) : 200,
    news: news?.text,
    isSecret,
    script,
    app: { style: APP.style, ...(person && { manifest: APP.manifest }), links: linksOf(context) },
  });
}

/** The statuses that pages have; what else an operation refuses is a form that cannot be handled. */
function statusOf({ status }: ApiError): number {
  return status >= 500 || [403, 404, 429].includes(status) ? status : 400;
}
