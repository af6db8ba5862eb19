import type { App } from './app';
import { loadSeeds, SEEDS_FOLDER } from './seeds';

/** Prepares a new user's first start; returns what each plugin has to print. */
export async function onFirstStart(app: App, url: string): Promise<string[]> {
  const { scopes, plugins } = app;
  const lines: string[] = [];
  const start = { url, scopes, loadSeeds: () => loadSeeds(app, SEEDS_FOLDER) };
  for (const { contribution } of plugins) {
    lines.push(...((await contribution.onFirstStart?.(start)) ?? []));
  }
  return lines;
}
