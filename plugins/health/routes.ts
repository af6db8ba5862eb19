import { serviceUnavailable } from '../../src/core/errors';
import type { Host } from '../../src/plugins/host';
import { type Operation, publicRead } from '../../src/plugins/operation';
import { live, ready } from './schema';

const NO_LIMIT = { none: 'for probes from inside' };
const NO_TOOL = { none: 'for operators, not for assistants' };

/** The probes (docs/running.md, "The program from outside"). */
export function routes(host: Host): Operation[] {
  return [
    publicRead({
      path: '/healthz',
      summary: 'Check that the process is alive',
      operationId: 'getLiveness',
      access: { public: 'probes have no token' },
      limit: NO_LIMIT,
      isProbe: true,
      response: { schema: live, description: 'The process is alive' },
      tool: NO_TOOL,
      handler: async () => ({ status: 'ok' }),
    }),
    publicRead({
      path: '/readyz',
      summary: 'Check that the service is ready',
      operationId: 'getReadiness',
      access: { public: 'probes have no token' },
      limit: NO_LIMIT,
      isProbe: true,
      response: { schema: ready, description: 'The service is ready' },
      errors: [serviceUnavailable],
      tool: NO_TOOL,
      handler: async () => {
        const { unready, rateLimits, warnings } = await host.readiness();
        if (unready !== undefined) throw serviceUnavailable.error(unready);
        const ofRedis =
          rateLimits === 'shared'
            ? []
            : ['Redis cannot be reached; each process counts rate limits by itself.'];
        return { status: 'ready', mongodb: 'ok', rateLimits, warnings: [...ofRedis, ...warnings] };
      },
    }),
  ];
}
