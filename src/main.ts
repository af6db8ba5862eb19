import { createRequire } from 'node:module';

import { PROJECT } from './core/settings/project';
import type { serve } from './serve';

const HELP = `Usage: node dist/src/main.js [options]

Serves the plant care API until SIGTERM or SIGINT; SIGHUP reads the TLS certificate anew. Settings
are environment variables: npm run --silent cli -- config show

Options:
  --welcome   the first time, load a demo garden and say what to try
  --version   print the version
  --help      print this
`;

const OPTIONS = ['--welcome', '--version', '--help'];

/** Does what is asked for; the program itself is loaded only to be served. */
async function main(args: readonly string[]): Promise<void> {
  const unknown = args.find((arg) => !OPTIONS.includes(arg));
  if (unknown !== undefined) {
    process.stderr.write(
      `There is no option ${unknown}; add --help to see those that there are.\n`,
    );
    process.exitCode = 2;
  } else if (args.includes('--help')) process.stdout.write(HELP);
  else if (args.includes('--version')) process.stdout.write(`${PROJECT.version}\n`);
  else {
    // Its own sibling, in the sources as in the build.
    const server = createRequire(__filename)('./serve') as { serve: typeof serve };
    await server.serve({ welcome: args.includes('--welcome') });
  }
}

void main(process.argv.slice(2));
