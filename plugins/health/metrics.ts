import { createHash, timingSafeEqual } from 'node:crypto';

import Joi from 'joi';
import type { Context } from 'koa';

import { unauthorized } from '../../src/core/errors';
import { bearerToken } from '../../src/core/identity';
import { PortSetting, Setting } from '../../src/core/settings/settings';
import type { Host } from '../../src/plugins/host';
import type { ProtocolEndpoint } from '../../src/plugins/protocol-endpoint';

const MIN_TOKEN = 16;
const MEDIA_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export const metricsPortSetting = new PortSetting<number | undefined>(
  'METRICS_PORT',
  undefined,
  'Port of its own, another than PORT, for /metrics, which the main one then does not serve, and for the probes as well; 0 takes a free one',
);

export const metricsTokenSetting = new Setting<string | undefined>(
  'METRICS_TOKEN',
  Joi.string()
    .min(MIN_TOKEN)
    // As a header can carry it. By itself Joi would say in the message what the token is.
    .pattern(/^[!-~]+$/)
    .messages({ 'string.pattern.base': '{{#label}} must be one word of ASCII characters' }),
  undefined,
  'What /metrics asks for as Authorization: Bearer; nothing where it is not set',
  () => '***',
);

/** The metrics, for Prometheus. */
export function metricsEndpoint(host: Host): ProtocolEndpoint {
  const token = host.settings.of(metricsTokenSetting);
  return {
    path: '/metrics',
    ownPort: metricsPortSetting,
    methods: {
      GET: {
        summary: "The process's metrics, for Prometheus",
        operationId: 'getMetrics',
        access: { public: 'METRICS_TOKEN and METRICS_PORT say who may read them' },
        isProbe: true,
        responses: {
          200: {
            description: 'Text in the Prometheus format',
            content: { [MEDIA_TYPE]: { type: 'string' } },
          },
        },
        errors: [unauthorized],
        handler: async (ctx) => {
          if (token !== undefined) checkToken(ctx, token);
          ctx.type = MEDIA_TYPE;
          ctx.body = await host.metrics();
        },
      },
    },
  };
}

/** @throws ApiError unauthorized */
function checkToken(ctx: Context, token: string): void {
  const sent = bearerToken(ctx.get('Authorization')) ?? '';
  // Of one length, so that how long it takes says nothing of either.
  if (timingSafeEqual(digestOf(sent), digestOf(token))) return;
  throw unauthorized.error('The metrics need the token of METRICS_TOKEN.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
