import { runCommand } from './commands';
import { EXIT } from './exit-codes';

let isCut = false;

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as head, ends nothing but the output.
  if (error.code === 'EPIPE' || isCut) return;
  isCut = true;
  process.stderr.write(`The result cannot be written: ${error.message}.\n`);
});

void runCommand(process.argv.slice(2), process.env).then((exitCode) => {
  process.exitCode = isCut ? EXIT.failed : exitCode;
});
