import './core/supported-node.js';

import { createRequire } from 'node:module';

import { PROJECT } from './core/settings/project';
import type { serve } from './serve';

const HELP = `Usage: node dist/src/main.js [options]

Runs the plant care API server until SIGTERM or SIGINT. SIGHUP reloads the TLS certificate.
Environment variables configure it; list them with: npm run --silent cli -- config show

Options:
  --welcome   on the first start, load a demo garden and print examples to try
  --version   print the version and exit
  --help      print this help and exit
`;

const OPTIONS = ['--welcome', '--version', '--help'];

/** Handles the options. Loads the server only when it is to run. */
async function main(args: readonly string[]): Promise<void> {
  const unknown = args.find((arg) => !OPTIONS.includes(arg));
  if (unknown !== undefined) {
    process.stderr.write(`Unknown option ${unknown}. Add --help for the list of options.\n`);
    process.exitCode = 2;
  } else if (args.includes('--help')) process.stdout.write(HELP);
  else if (args.includes('--version')) process.stdout.write(`${PROJECT.version}\n`);
  else {
    // A sibling file, in the sources and in the build.
    const server = createRequire(__filename)('./serve') as { serve: typeof serve };
    await server.serve({ welcome: args.includes('--welcome') });
  }
}

void main(process.argv.slice(2));
