import { serviceUnavailable } from '../../src/core/errors';
import type { Host } from '../../src/plugins/host';
import { type Operation, publicRead } from '../../src/plugins/operation';
import { live, ready } from './schema';

const NO_LIMIT = { none: 'asked by probes of the operator, from inside' };
const NO_TOOL = { none: 'for the programs of operators, not for people' };

/** What operators' own programs ask (docs/running.md, "The program from outside"). */
export function routes(host: Host): Operation[] {
  return [
    publicRead({
      path: '/healthz',
      summary: 'Whether the process lives',
      operationId: 'getLiveness',
      access: { public: 'probes have no token' },
      limit: NO_LIMIT,
      isProbe: true,
      response: { schema: live, description: 'It lives' },
      tool: NO_TOOL,
      handler: async () => ({ status: 'ok' }),
    }),
    publicRead({
      path: '/readyz',
      summary: 'Whether the service can serve',
      operationId: 'getReadiness',
      access: { public: 'probes have no token' },
      limit: NO_LIMIT,
      isProbe: true,
      response: { schema: ready, description: 'It can serve' },
      errors: [serviceUnavailable],
      tool: NO_TOOL,
      handler: async () => {
        const { unready, rateLimits, warnings } = await host.readiness();
        if (unready !== undefined) throw serviceUnavailable.error(unready);
        const ofRedis =
          rateLimits === 'shared'
            ? []
            : ['Redis cannot be reached: each process counts rate limits for itself.'];
        return { status: 'ready', mongodb: 'ok', rateLimits, warnings: [...ofRedis, ...warnings] };
      },
    }),
  ];
}
