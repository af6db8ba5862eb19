import { definePlugin } from '../../src/plugins/plugin';
import { metricsPortSetting, metricsTokenSetting, metricsEndpoint } from './metrics';
import { routes } from './routes';

/** What operators' own programs ask: does it live, can it serve, what does it count. */
export default definePlugin({
  name: 'health',
  requires: [],
  settings: [metricsPortSetting, metricsTokenSetting],
  tag: {
    name: 'Health',
    description:
      'What the programs of operators ask: does it live, can it serve, what does it count.',
  },
  setup: (host) => ({ operations: () => routes(host), protocols: [metricsEndpoint(host)] }),
});
