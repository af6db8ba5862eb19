import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { parseJson, prototypeKeyIn, JSON_VALIDATION } from '../core/text/json';
import { JsonFault } from '../core/text/json-limits';
import { OperatorError } from '../core/errors';
import { printable } from '../core/text/text';
import { reasonOf } from '../core/values';
import type { AuditLog } from '../data/audit/audit-log';
import type { SeedKind } from '../plugins/plugin';
import { PROJECT_FOLDER } from '../core/settings/project';
import type { App } from './app';

/** The folder of the seeds that come with the program. */
export const SEEDS_FOLDER = path.join(PROJECT_FOLDER, 'seeds');

/** The faults in seeds, one per line, each with its file and place. */
export class SeedError extends OperatorError {
  constructor(faults: readonly string[]) {
    super(faults.map(printable).join('\n'));
  }
}

/**
 * Loads every `*.json` file of a folder. Checks all files before it loads the first.
 *
 * @returns how many records were added, by the name of the file without its extension
 * @throws SeedError naming every fault
 */
export async function loadSeeds(
  { seeds: kinds, audit }: { seeds: readonly SeedKind[]; audit: AuditLog },
  folder: string,
): Promise<Record<string, number>> {
  const files = await seedFiles(folder);
  const faults: string[] = [];
  const loads: { kind: SeedKind; content: unknown }[] = [];
  for (const file of files) {
    const kind = kinds.find((each) => `${each.name}.json` === file);
    if (!kind) {
      const known = kinds.map(({ name }) => `${name}.json`).join(', ');
      faults.push(`${file}: no plugin loads this file; the known files are ${known}`);
      continue;
    }
    const checked = await check(kind, path.join(folder, file));
    faults.push(...checked.faults.map((fault) => `${file}: ${fault}`));
    loads.push({ kind, content: checked.content });
  }
  if (faults.length > 0) throw new SeedError(faults);
  for (const { kind, content } of loads) {
    const found = (await kind.preflight?.(content)) ?? [];
    faults.push(...found.map((fault) => `${kind.name}.json: ${fault}`));
  }
  if (faults.length > 0) throw new SeedError(faults);
  const added: Record<string, number> = {};
  for (const { kind, content } of loads) {
    added[kind.name] = await kind.load(content);
  }
  const target = { type: 'folder', id: path.resolve(folder) };
  await audit.record({ action: 'seeds.loaded', target, changes: added });
  return added;
}

async function seedFiles(folder: string): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    throw new SeedError([`The seed folder cannot be read: ${reasonOf(error)}.`]);
  }
  const files = names.filter((name) => name.endsWith('.json')).sort();
  if (files.length === 0) throw new SeedError([`There are no .json files in ${folder}.`]);
  return files;
}

async function check(
  kind: SeedKind,
  file: string,
): Promise<{ faults: string[]; content?: unknown }> {
  let parsed: unknown;
  try {
    // Reading a pipe would wait for its writer.
    if (!(await stat(file)).isFile()) return { faults: ['is not a regular file'] };
    parsed = parseJson(await readFile(file));
  } catch (error) {
    if (!(error instanceof JsonFault)) return { faults: [`cannot be read: ${reasonOf(error)}`] };
    const reason = error.cause instanceof Error ? `: ${error.cause.message}` : '';
    return { faults: [`${error.message}${reason}`] };
  }
  if (prototypeKeyIn(parsed) !== undefined) {
    return { faults: ['must not contain the keys __proto__ or constructor'] };
  }
  const checked = kind.schema.validate(parsed, { ...JSON_VALIDATION, abortEarly: false });
  const faults = checked.error?.details.map(({ message }) => message) ?? [];
  return { faults, content: checked.value };
}

/** Runs the plugins' hooks for a first start; returns the lines that they print. */
export async function onFirstStart(app: App, url: string): Promise<string[]> {
  const { scopes, plugins } = app;
  const lines: string[] = [];
  const start = { url, scopes, loadSeeds: () => loadSeeds(app, SEEDS_FOLDER) };
  for (const { contribution } of plugins) {
    lines.push(...((await contribution.onFirstStart?.(start)) ?? []));
  }
  return lines;
}
