import { definePlugin } from '../../src/plugins/plugin';
import { metricsPortSetting, metricsTokenSetting, metricsEndpoint } from './metrics';
import { routes } from './routes';

/** Liveness, readiness and metrics. */
export default definePlugin({
  name: 'health',
  requires: [],
  settings: [metricsPortSetting, metricsTokenSetting],
  tag: {
    name: 'Health',
    description: 'Liveness, readiness and metrics, for operators.',
  },
  setup: (host) => ({ operations: () => routes(host), protocols: [metricsEndpoint(host)] }),
});
