import { timingSafeEqual } from 'node:crypto';

import Joi from 'joi';
import type { Context } from 'koa';

import { unauthorized } from '../../src/core/errors';
import { bearerToken, hashOf } from '../../src/core/identity';
import { PortSetting, Setting } from '../../src/core/settings/settings';
import type { Host } from '../../src/plugins/host';
import { getEndpoint, type ProtocolEndpoint } from '../../src/plugins/protocol-endpoint';

const MIN_TOKEN = 16;
const MEDIA_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export const metricsPortSetting = new PortSetting<number | undefined>(
  'METRICS_PORT',
  undefined,
  'A port other than PORT for /metrics, which PORT then does not serve, and for the probes; 0 picks a free one',
);

export const metricsTokenSetting = new Setting<string | undefined>(
  'METRICS_TOKEN',
  Joi.string()
    .min(MIN_TOKEN)
    // What a header can carry. Joi's own message would contain the token.
    .pattern(/^[!-~]+$/)
    .messages({ 'string.pattern.base': '{{#label}} must be one word of ASCII characters' }),
  undefined,
  'The bearer token that /metrics requires; none when not set',
  () => '***',
);

/** The metrics in Prometheus' text format. */
export function metricsEndpoint(host: Host): ProtocolEndpoint {
  const token = host.settings.of(metricsTokenSetting);
  const endpoint = getEndpoint('/metrics', {
    operationId: 'getMetrics',
    summary: 'Read the metrics of the process',
    isProbe: true,
    access: { public: 'METRICS_TOKEN and METRICS_PORT decide who may read them' },
    responses: {
      200: {
        description: "Prometheus' text format",
        content: { [MEDIA_TYPE]: { type: 'string' } },
      },
    },
    errors: [unauthorized],
    handler: async (ctx) => {
      if (token !== undefined) checkToken(ctx, token);
      ctx.type = MEDIA_TYPE;
      ctx.body = await host.metrics();
    },
  });
  return { ...endpoint, ownPort: metricsPortSetting };
}

/** @throws ApiError unauthorized */
function checkToken(ctx: Context, token: string): void {
  const sent = bearerToken(ctx.get('Authorization')) ?? '';
  // Hashes have the same length, so the time of the comparison reveals nothing.
  if (timingSafeEqual(Buffer.from(hashOf(sent)), Buffer.from(hashOf(token)))) return;
  throw unauthorized.error('The metrics require the token in METRICS_TOKEN.', {
    headers: { 'WWW-Authenticate': 'Bearer' },
  });
}
