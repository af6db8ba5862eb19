import { createHash, randomUUID } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

import { transformSync } from '@swc/core';

const ROOT = path.resolve(__dirname, '../..');
const FOLDERS = ['src', 'plugins'];
/** Beside the packages, so that the program finds them as it does from `dist`. */
const BUILDS = path.join(ROOT, 'node_modules/.cache/plant-care-builds');
const KEPT_MS = 60 * 60 * 1000;

/**
 * The folder of a build of the sources as they are now: `dist` where it is up to date, else one
 * that is made file by file, because a whole compilation takes longer than the tests that need it.
 */
export function builtProgram(): string {
  const sources = FOLDERS.flatMap((folder) => filesOf(path.join(ROOT, folder), '.ts')).filter(
    (file) => !file.endsWith('.test.ts'),
  );
  const dist = path.join(ROOT, 'dist');
  return isUpToDate(dist, sources) ? dist : ownBuild(sources);
}

/** A copy of it that says to be another release; to be removed afterwards. */
export function builtRelease(version: string): string {
  const build = builtProgram();
  const release = path.join(BUILDS, randomUUID());
  for (const folder of FOLDERS) {
    cpSync(path.join(build, folder), path.join(release, folder), { recursive: true });
  }
  const about = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as object;
  writeFileSync(path.join(release, 'package.json'), JSON.stringify({ ...about, version }));
  return release;
}

function filesOf(folder: string, extension: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

function isUpToDate(dist: string, sources: readonly string[]): boolean {
  const built = FOLDERS.flatMap((folder) => filesOf(path.join(dist, folder), '.js'));
  const wanted = new Set(sources.map((file) => compiledTo(dist, file)));
  if (built.length !== wanted.size || !built.every((file) => wanted.has(file))) return false;
  return sources.every(
    (file) => statSync(file).mtimeMs <= statSync(compiledTo(dist, file)).mtimeMs,
  );
}

function compiledTo(folder: string, source: string): string {
  return path.join(folder, path.relative(ROOT, source).replace(/\.ts$/, '.js'));
}

function ownBuild(sources: readonly string[]): string {
  const contents = sources.map((file) => [file, readFileSync(file, 'utf8')] as const);
  const hash = createHash('sha256').update(JSON.stringify(contents)).digest('hex').slice(0, 16);
  const build = path.join(BUILDS, hash);
  if (existsSync(build)) return build;
  forgetOldBuilds();
  const unfinished = path.join(BUILDS, randomUUID());
  for (const [file, content] of contents) {
    const target = compiledTo(unfinished, file);
    mkdirSync(path.dirname(target), { recursive: true });
    const { code } = transformSync(content, {
      ...{ filename: file, jsc: { parser: { syntax: 'typescript' }, target: 'es2023' } },
      module: { type: 'commonjs' },
    });
    writeFileSync(target, code);
  }
  for (const name of ['package.json', 'seeds']) {
    if (existsSync(path.join(ROOT, name))) {
      symlinkSync(path.join(ROOT, name), path.join(unfinished, name));
    }
  }
  try {
    renameSync(unfinished, build);
  } catch (error) {
    // Another test file made the same build meanwhile.
    rmSync(unfinished, { recursive: true });
    if (!existsSync(build)) throw error;
  }
  return build;
}

function forgetOldBuilds(): void {
  mkdirSync(BUILDS, { recursive: true });
  for (const name of readdirSync(BUILDS)) {
    const build = path.join(BUILDS, name);
    if (Date.now() - statSync(build).mtimeMs > KEPT_MS)
      rmSync(build, { recursive: true, force: true });
  }
}
