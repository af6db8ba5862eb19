import '../core/supported-node.js';

import { runCommand } from './commands';
import { EXIT } from './exit-codes';

let isCut = false;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader such as head may close early, which is no failure.
  if (error.code === 'EPIPE' || isCut) return;
  isCut = true;
  process.stderr.write(`The result cannot be written: ${error.message}.\n`);
});

void runCommand(process.argv.slice(2), process.env).then((exitCode) => {
  process.exitCode = isCut ? EXIT.failed : exitCode;
});
