import { readFileSync } from 'node:fs';
import path from 'node:path';

/** How documents have the CLI be typed. */
export const CLI = 'npm run --silent cli --';

const ROOT = path.resolve(__dirname, '../..');

/** The documents whose commands run one after the other on a new server. */
export const REFERENCES = ['README.md', 'docs/settings.md', 'docs/running.md'];

/** For a shell: a curl that fails where the answer is an error. */
export const FAILING_CURL = 'curl() { command curl --fail "$@"; }';

/** For a shell: an npm that does nothing but run the CLI, by this command; what npm itself does takes longest. */
export function npmFor(cli: string): string {
  return `npm() { [ "npm \${*:1:4}" = '${CLI}' ]; ${cli} "\${@:5}"; }`;
}

/** The commands that a document's blocks of shell hold, in their order. */
export function commandsOf(document: string): string[] {
  const content = readFileSync(path.join(ROOT, document), 'utf8');
  const blocks = [...content.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  return blocks.join('').replaceAll('\\\n', ' ').trim().split('\n');
}
