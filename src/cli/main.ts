import { runCommand } from './commands';

// A reader that has seen enough, such as head, ends nothing but the output.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

void runCommand(process.argv.slice(2), process.env).then((exitCode) => {
  process.exitCode = exitCode;
});
