import type { Surface } from '../../src/app/surface';
import { surfaceTables, type Table } from '../../src/cli/surface-tables';

const INTRODUCTION = `# The surface

All that can be called from outside, the public first. \`make docs\` renews this file from the code;
\`make audit\` shows the same on a terminal, \`audit routes --json\` with reasons and whole schemas.

- access: a scope, any token, or public; budget: the rate limit; key: takes an Idempotency-Key
- chain: the steps that a request passes, in the second table
- each call with a token also reads the plugin that knows who calls; one with a key also src
`;

/** The text of docs/surface.md. */
export function surfaceDocument(surface: Surface): string {
  return [INTRODUCTION, ...surfaceTables(surface).map(markdown)].join('\n');
}

function markdown({ title, headings, rows }: Table): string {
  const lines = [headings, headings.map(() => '---'), ...rows];
  return `## ${title}\n\n${lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')}`;
}
