import type { App } from './app';
import { loadSeeds, SEEDS_FOLDER } from './seeds';

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
