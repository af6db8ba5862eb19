import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');
const DOCUMENT = path.join(ROOT, 'docs/adding-a-resource.md');
const FIXTURE = path.join(ROOT, 'test/fixtures/chores');

/** A code block that names a file of the resource: "```ts chores/model.ts". */
const BLOCK = /^```ts chores\/(\S+)\n[^]*?^```$/gm;

/** A file of the fixture as it would stand in plugins/. */
function shown(file: string): string {
  return readFileSync(path.join(FIXTURE, file), 'utf8')
    .replaceAll(`'../../../src/`, `'../../src/`)
    .replaceAll(`'../../../plugins/`, `'../`);
}

const document = readFileSync(DOCUMENT, 'utf8');

test('the document has every file of the new resource once', () => {
  const blocks = [...document.matchAll(BLOCK)].map((match) => match[1]);
  const files = readdirSync(FIXTURE).filter((file) => file.endsWith('.ts'));
  expect(blocks.sort()).toEqual(files.filter((file) => !file.endsWith('.test.ts')).sort());
});

test('the document has every file unchanged; make docs regenerates them', () => {
  const rendered = document.replace(
    BLOCK,
    (_block, file: string) => `\`\`\`ts chores/${file}\n${shown(file)}\`\`\``,
  );
  if (process.env['UPDATE_DOCS'] !== undefined) writeFileSync(DOCUMENT, rendered);
  else expect(document).toBe(rendered);
});
