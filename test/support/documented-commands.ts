import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The CLI, as documents write it. */
export const CLI = 'npm run --silent cli --';

const ROOT = path.resolve(__dirname, '../..');

/** Documents whose commands run in order on a new server. */
export const REFERENCES = ['README.md', 'docs/settings.md', 'docs/running.md'];

/** A shell function: a curl that fails if the response is an error. */
export const FAILING_CURL = 'curl() { command curl --fail "$@"; }';

/** A shell function: an npm that only runs the CLI, by this command, since npm itself is slow. */
export function npmFor(cli: string): string {
  return `npm() { [ "npm \${*:1:4}" = '${CLI}' ]; ${cli} "\${@:5}"; }`;
}

/** The commands in the shell blocks of a document, in order. */
export function commandsOf(document: string): string[] {
  const content = readFileSync(path.join(ROOT, document), 'utf8');
  const blocks = [...content.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  return blocks.join('').replaceAll('\\\n', ' ').trim().split('\n');
}
