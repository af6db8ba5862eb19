import { ApiError } from '../../src/core/errors';
import { definePlugin } from '../../src/plugins/plugin';
import oauthPlugin from '../oauth';
import { type Html, markup, staticFile } from '../pages';
import { sentenceOf, submit } from './actions';
import type { News } from './news';
import { overview } from './overview';
import { plantPage } from './plant-page';
import { STYLE } from './style';
import { Visit } from './visit';

const PATHS = { style: '/garden.css', manifest: '/garden.webmanifest' };

/** Lets people install the garden on a home screen. */
const MANIFEST = JSON.stringify({
  name: 'Plant care',
  start_url: '/garden',
  scope: '/',
  display: 'standalone',
  icons: [{ src: '/favicon.ico', type: 'image/svg+xml', sizes: 'any' }],
});

/** What a person's garden needs, and each of its plants. */
export default definePlugin({
  name: 'garden',
  requires: ['care', 'events', 'insights', 'oauth', 'pages', 'photos', 'plants'],
  tag: { name: 'Garden', description: 'Pages on which people look after their plants.' },
  setup: (host) => {
    const { pages } = host.use(oauthPlugin);
    return {
      protocols: [
        {
          path: '/garden',
          methods: {
            GET: pages.page('getGardenPage', 'Get the page of the garden', (request, account) =>
              show(new Visit(request, account)),
            ),
            POST: pages.form(
              'changeGarden',
              'Submit a form of the garden',
              (request, account, form) => change(new Visit(request, account), form),
            ),
          },
        },
        {
          path: '/garden/{id}',
          methods: {
            GET: pages.page('getPlantPage', 'Get the page of a plant', (request, account) =>
              show(new Visit(request, account)),
            ),
            POST: pages.form(
              'changePlantPage',
              'Submit a form of a plant',
              (request, account, form) => change(new Visit(request, account), form),
            ),
          },
        },
        staticFile(PATHS.style, {
          operationId: 'getGardenStyle',
          summary: 'Get the style sheet of the garden',
          type: 'text/css',
          text: STYLE,
        }),
        staticFile(PATHS.manifest, {
          operationId: 'getGardenManifest',
          summary: 'Get the web app manifest of the garden',
          type: 'application/manifest+json',
          text: MANIFEST,
        }),
      ],
    };
  },
});

/** Handles a form, and redirects to the page that shows what it did. */
async function change(visit: Visit, form: URLSearchParams): Promise<void> {
  try {
    visit.request.redirect(await submit(visit, form));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    await show(visit, error);
  }
}

/** Shows the page of the request, or why it cannot be shown. */
async function show(visit: Visit, refusal?: ApiError): Promise<void> {
  try {
    await showPage(visit, refusal);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { texts } = visit;
    const back = markup`<p><a href="/garden">${texts.title}</a></p>`;
    respond(visit, { title: texts.title, content: back, news: undefined }, error);
  }
}

async function showPage(visit: Visit, refusal: ApiError | undefined): Promise<void> {
  const { id } = visit.request.ctx.params as { id?: string };
  const page = id === undefined ? await overview(visit) : await plantPage(visit, id);
  respond(visit, { title: visit.texts.title, ...page }, refusal);
}

function respond(
  visit: Visit,
  { title, content, news }: { title: string; content: Html; news: News | undefined },
  refusal: ApiError | undefined,
): void {
  const { request, texts } = visit;
  const links = markup`<nav>
    <a href="/garden">${texts.title}</a> <a href="/settings">${texts.settings}</a>
  </nav>`;
  const fault =
    refusal &&
    markup`<p class="fault" role="alert" tabindex="-1" autofocus>${sentenceOf(visit, refusal)}</p>`;
  if (refusal) request.ctx.set(refusal.headers);
  request.show(title, markup`${fault} ${content}`, {
    status: refusal ? statusOf(refusal) : 200,
    news: news?.text,
    app: { ...PATHS, links },
  });
}

/** The statuses that pages have; what else an operation refuses is a form that cannot be handled. */
function statusOf({ status }: ApiError): number {
  return status >= 500 || [403, 404, 429].includes(status) ? status : 400;
}
