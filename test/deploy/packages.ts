import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';

/** Unpacks Debian packages into a folder, without installing them and without root. */
export function fetchPackages(folder: string, ...names: string[]): void {
  mkdirSync(path.join(folder, 'lists/partial'), { recursive: true });
  const run = (file: string, ...args: string[]) =>
    execFileSync(file, args, { cwd: folder, stdio: 'pipe' });
  const own = ['-o', `Dir::State::lists=${folder}/lists`, '-o', `Dir::Cache=${folder}/cache`];
  run('apt-get', '-qq', ...own, 'update');
  run('apt-get', '-qq', ...own, 'download', ...names);
  run('sh', '-c', 'for each in *.deb; do dpkg -x "$each" .; done');
}
