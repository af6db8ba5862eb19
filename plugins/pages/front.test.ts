import type { TestService } from '../../test/support/service';
import { startService } from '../../test/support/program';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

async function open(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(service.url + path, { headers, redirect: 'manual' });
  return { answer, text: await answer.text() };
}

/** The addresses of the links of a page, within a list. */
function linksOf(page: string): string[] {
  return [...page.matchAll(/<li><a href="([^"]*)"/g)].map(([, link = '']) => link);
}

test('a browser gets a page, a program the same links as JSON, and every link works', async () => {
  const { answer, text } = await open('/', { Accept: BROWSER });
  expect(answer.headers.get('Content-Type')).toContain('text/html');
  expect(answer.headers.get('Vary')).toMatch(/Accept\b.*Accept-Language/);
  for (const Accept of ['*/*', 'application/json']) {
    const { links } = JSON.parse((await open('/', { Accept })).text) as {
      links: Record<string, string>;
    };
    expect(Object.keys(links)).toEqual(expect.arrayContaining(['signIn', 'api', 'status']));
    expect(linksOf(text)).toEqual(Object.values(links));
  }
  for (const link of linksOf(text)) {
    expect((await open(link)).answer.status).toBeLessThan(400);
  }
});

test('the page is in French on request, and runs no script', async () => {
  const { text } = await open('/', { Accept: BROWSER, 'Accept-Language': 'fr' });
  expect(text).toContain('<html lang="fr">');
  expect(text).toContain('Se connecter');
  expect(text).not.toMatch(/<script|style=| on\w+=/);
});

test.each([
  ['/favicon.ico', 'image/svg+xml', /^<svg/],
  ['/robots.txt', 'text/plain', /^User-agent: \*$[^]*^Disallow: \/$/m],
  ['/pages.css', 'text/css', /color-scheme: light dark/],
])('%s is %s, which browsers may cache', async (path, type, content) => {
  const { answer, text } = await open(path);
  expect(answer.headers.get('Content-Type')).toContain(type);
  expect(answer.headers.get('Cache-Control')).toBe('public, max-age=3600');
  expect(text).toMatch(content);
  const known = { 'If-None-Match': answer.headers.get('ETag') ?? '' };
  expect((await open(path, known)).answer.status).toBe(304);
});

test('/docs/ redirects to /docs, also behind the path of a proxy', async () => {
  const { answer } = await open('/docs/');
  expect(answer.status).toBe(308);
  expect(answer.headers.get('Location')).toBe('../docs');
});
