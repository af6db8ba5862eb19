import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');

const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** The files of some folders, by their paths from the root of the project. */
function filesOf(folders: readonly string[], ending: RegExp): string[] {
  return folders.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => ending.test(file))
      .map((file) => path.join(folder, file)),
  );
}

const sources = filesOf(['src', 'plugins', 'test'], /\.(ts|js)$/);
const documents = [
  ...readdirSync(ROOT).filter((file) => file.endsWith('.md')),
  ...filesOf(['docs'], /\.md$/),
];

/** What the comments of a file say, as if each were on one line. */
const unwrapped = (file: string) => read(file).replace(/\s*\n\s*(?:\*|\/\/)(?!\/)\s*/g, ' ');

/** All that the sources cite in a certain way, with the file that does. */
function citations(way: RegExp): { file: string; cited: string[] }[] {
  return sources.flatMap((file) =>
    [...unwrapped(file).matchAll(way)].map((match) => ({ file, cited: match.slice(1) })),
  );
}

test('every document that the code cites is in the repository', () => {
  const cited = citations(/\b((?:\w+\/)*[\w-]+\.md)\b/g);
  expect(cited.length).toBeGreaterThan(20);
  expect(cited.filter(({ cited: [file = ''] }) => !documents.includes(file))).toEqual([]);
});

test('every section that the code cites by its title is in the document', () => {
  const cited = citations(/\b(docs\/[\w-]+\.md), "([^"]+)"/g);
  expect(cited.length).toBeGreaterThan(10);
  const missing = cited.filter(
    ({ cited: [file = '', title = ''] }) => !read(file).split('\n').includes(`## ${title}`),
  );
  expect(missing).toEqual([]);
});

test('sections of the specification are cited by its index, and are in it', () => {
  const rows = read('docs/specification.md').matchAll(/^\| (\d+(?:\.\d+)?) +\|/gm);
  const known = [...rows].map((row) => row[1]);
  const cited = citations(/\bdocs\/specification\.md, (\d[\d.]*(?:(?: to | and |, )\d[\d.]*)*)/g);
  expect(cited.length).toBeGreaterThan(20);
  expect(citations(/\b([Ss]ections? \d)/g)).toEqual([]);
  const missing = cited.filter(({ cited: [numbers = ''] }) =>
    (numbers.match(/\d+(?:\.\d+)?/g) ?? []).some((number) => !known.includes(number)),
  );
  expect(missing).toEqual([]);
});

test.each(documents)('every link of %s to a file leads to one', (document) => {
  const links = [...read(document).matchAll(/\]\((?!\w+:|#)([^)#]+)/g)].map((match) => match[1]);
  const dead = links.filter(
    (link = '') => !existsSync(path.join(ROOT, path.dirname(document), link)),
  );
  expect(dead).toEqual([]);
});
