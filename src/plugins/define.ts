import type { Setting } from '../settings';
import type { Plugin } from './manifest';

/** Declares a plugin; the type of its offers, if it has any, is known to whoever imports it. */
export function definePlugin<Offers = undefined>(plugin: Plugin<Offers>): Plugin<Offers> {
  return plugin;
}

/** All that operators can set about a plugin: its own settings and what its limits follow. */
export function settingsOf({
  settings = [],
  budgets = {},
  quotas = {},
}: Plugin): Setting<unknown>[] {
  const limits = Object.values(quotas).flatMap((quota) => Object.values(quota.limits));
  return [...new Set<Setting<unknown>>([...settings, ...Object.values(budgets), ...limits])];
}
