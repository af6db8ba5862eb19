/** What identifies a plugin, and carries the type of its exports. */
export interface PluginReference<Exports = unknown> {
  /** The name of its folder. */
  name: string;
  setup(host: never): { exports?: Exports };
}
