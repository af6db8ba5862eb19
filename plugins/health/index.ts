import { definePlugin } from '../../src/plugins/plugin';
import { metricsPortSetting, metricsTokenSetting, metricsEndpoint } from './metrics';
import { probes } from './probes';

/** Liveness, readiness and metrics. */
export default definePlugin({
  name: 'health',
  requires: [],
  settings: [metricsPortSetting, metricsTokenSetting],
  tag: {
    name: 'Health',
    description: 'Liveness, readiness and metrics, for operators.',
  },
  setup: (host) => ({ protocols: [...probes(host), metricsEndpoint(host)] }),
});
