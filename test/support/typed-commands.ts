import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** How a command ended, and what it said. */
interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Commands of the program that a shell types, and that are run elsewhere than in a process each. */
export interface TypedCommands {
  /** What the shell has to run before: `npm run --silent cli --`, as a function of it. */
  definition: string;
  /** What has failed, and what it said. */
  failures: string[];
  close(): void;
}

/**
 * Has the commands of a shell run by `run`, one at a time, with the shell's `DATA_DIR`. Each would
 * take most of a second of computing in a process of its own, and more through npm.
 */
export async function takeCommands(
  run: (args: readonly string[], env: NodeJS.ProcessEnv) => Promise<Ended>,
): Promise<TypedCommands> {
  const folder = mkdtempSync(path.join(tmpdir(), 'typed-commands-'));
  const socket = path.join(folder, 'socket');
  const failures: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      // Without an encoding set, a stream of bytes has nothing but these.
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const args = Buffer.concat(chunks).toString().split('\0').slice(0, -1);
      const { PATH, HOME, XDG_CACHE_HOME, MONGOD_BINARY } = process.env;
      const env = { PATH, HOME, XDG_CACHE_HOME, MONGOD_BINARY };
      const { code, stdout, stderr } = await run(args, {
        ...env,
        DATA_DIR: String(request.headers['data-dir']),
      });
      if (code !== 0) failures.push(`${args.join(' ')}: ${code}\n${stdout}${stderr}`);
      response.writeHead(code === 0 ? 200 : 500).end(stdout);
    })().catch((error: unknown) => {
      failures.push(String(error));
      response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  const definition = `npm() {
  [ "$1 $2 $3 $4" = "run --silent cli --" ]
  printf '%s\\0' "\${@:5}" | command curl --silent --fail --unix-socket '${socket}' \\
    --header "Data-Dir: $DATA_DIR" --data-binary @- http://localhost
}`;
  return {
    definition,
    failures,
    close: () => {
      server.close();
      rmSync(folder, { recursive: true });
    },
  };
}
