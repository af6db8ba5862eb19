import { hostRules, hostSettings } from '../core/host-settings';
import { differentPorts, Settings } from '../core/settings';
import { type Plugin, settingsOf } from '../plugins/plugin';

/**
 * The settings of the host and of the plugins.
 *
 * @throws SettingsError naming every variable that is wrong, and why
 */
export function readSettings(plugins: readonly Plugin[], env: NodeJS.ProcessEnv): Settings {
  const settings = [...Object.values(hostSettings), ...plugins.flatMap(settingsOf)];
  return new Settings(settings, env, [...hostRules, differentPorts(settings)]);
}
