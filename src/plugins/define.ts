import type { Plugin } from './manifest';

/** Declares a plugin; the type of its offers, if it has any, is known to whoever imports it. */
export function definePlugin<Offers = undefined>(plugin: Plugin<Offers>): Plugin<Offers> {
  return plugin;
}
