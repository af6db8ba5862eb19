import { serviceUnavailable } from '../../src/core/errors';
import type { JsonSchema } from '../../src/fields/json-schema';
import type { Host } from '../../src/plugins/host';
import { getEndpoint, type ProtocolEndpoint } from '../../src/plugins/protocol-endpoint';

const LIVENESS: JsonSchema = {
  title: 'Liveness',
  type: 'object',
  required: ['status'],
  properties: { status: { type: 'string', enum: ['ok'] } },
  additionalProperties: false,
};

const READINESS: JsonSchema = {
  title: 'Readiness',
  type: 'object',
  required: ['status', 'mongodb', 'rateLimits', 'warnings'],
  properties: {
    status: { type: 'string', enum: ['ready'] },
    mongodb: { type: 'string', enum: ['ok'] },
    rateLimits: { type: 'string', enum: ['shared', 'in memory'] },
    warnings: { type: 'array', items: { type: 'string' }, examples: [[]] },
  },
  additionalProperties: false,
};

const REDIS_WARNING =
  'Redis cannot be reached, or refuses writes; each process counts rate limits by itself.';

/** The probes (docs/running.md, "The program from outside"). */
export function probes(host: Host): ProtocolEndpoint[] {
  return [
    probe('/healthz', {
      operationId: 'getLiveness',
      summary: 'Check that the process is alive',
      description: 'The process is alive',
      body: LIVENESS,
      respond: async () => ({ status: 'ok' }),
    }),
    probe('/readyz', {
      operationId: 'getReadiness',
      summary: 'Check that the service is ready',
      description: 'The service is ready',
      body: READINESS,
      respond: async () => {
        const { unready, rateLimits, warnings } = await host.readiness();
        if (unready !== undefined) throw serviceUnavailable.error(unready);
        const ofRedis = rateLimits === 'shared' ? [] : [REDIS_WARNING];
        return { status: 'ready', mongodb: 'ok', rateLimits, warnings: [...ofRedis, ...warnings] };
      },
    }),
  ];
}

interface Probe {
  operationId: string;
  summary: string;
  /** Of the response. */
  description: string;
  body: JsonSchema;
  respond: () => Promise<object>;
}

function probe(
  path: string,
  { operationId, summary, description, body, respond }: Probe,
): ProtocolEndpoint {
  const endpoint = getEndpoint(path, {
    operationId,
    summary,
    isProbe: true,
    access: { public: 'probes have no token' },
    responses: { 200: { description, content: { 'application/json': body } } },
    handler: async (ctx) => {
      const response = await respond();
      ctx.type = 'application/json';
      ctx.body = JSON.stringify(response);
    },
  });
  return { ...endpoint, isOnEveryPort: true };
}
