import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');

/** The commands that a document's blocks of shell hold, in their order. */
export function commandsOf(document: string): string[] {
  const content = readFileSync(path.join(ROOT, document), 'utf8');
  const blocks = [...content.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  return blocks.join('').replaceAll('\\\n', ' ').trim().split('\n');
}
