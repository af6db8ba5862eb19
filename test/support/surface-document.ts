import type { Surface } from '../../src/app/surface';
import { surfaceTables, type Table } from '../../src/cli/commands/audit-routes';

const INTRODUCTION = `# The surface

Everything that can be called from outside, public endpoints first. \`make docs\` renews this file from
the code; \`make audit\` prints it on a terminal, and \`audit routes --json\` adds reasons and schemas.

- access: a scope, any token, or public, and the tiers if not all have it; budget: the rate limit
- #: the steps of a request, by their number in the second table
- owner: account (a cluster shards it by \`userId\`), shared (on one shard), or the field by which shared data
  is sharded ([scaling.md](scaling.md#a-sharded-cluster))
- A call with a token also reads the plugin that authenticates it; one with a key also the host's own
  collections (\`src\`).
`;

/** The text of docs/surface.md. */
export function surfaceDocument(surface: Surface): string {
  return [INTRODUCTION, ...surfaceTables(surface).map(markdown)].join('\n');
}

function markdown({ title, headings, rows }: Table): string {
  const lines = [headings, headings.map(() => '---'), ...rows];
  return `## ${title}\n\n${lines.map((cells) => `| ${cells.join(' | ').replaceAll('\n/', '/').replaceAll('\n', ' ')} |\n`).join('')}`;
}
