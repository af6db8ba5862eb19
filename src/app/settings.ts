import { hostRules, hostSettings } from '../core/settings/host-settings';
import { differentPorts, Settings, type SettingsRule } from '../core/settings/settings';
import { type Plugin, settingsOf } from '../plugins/plugin';
import { scopesOf } from './api-description';

/**
 * Reads the settings of the host and of the plugins.
 *
 * @throws SettingsError with every invalid variable and the reason
 */
export function readSettings(plugins: readonly Plugin[], env: NodeJS.ProcessEnv): Settings {
  const settings = [...Object.values(hostSettings), ...plugins.flatMap(settingsOf)];
  const scopes = scopesOf(plugins);
  const rules = plugins.flatMap(({ rules: own = [] }) =>
    own.map(
      (rule): SettingsRule =>
        (values) =>
          rule(values, scopes),
    ),
  );
  return new Settings(settings, env, [...hostRules, differentPorts(settings), ...rules]);
}
