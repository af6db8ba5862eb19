import { notFound } from '../../../src/core/errors';
import { RESOURCE_DOCUMENT } from '../../../src/core/settings/public-origin';
import { toolScopes } from '../../../src/plugins/operation-facts';
import type { ProtocolEndpoint, ProtocolMethod } from '../../../src/plugins/protocol-endpoint';
import { TOOLS_PATH } from '../../mcp';
import { access, DOCUMENT, open, originFor, type Parts } from './method';

/** Protected resource metadata (RFC 9728), of the API and of the tools alone. */
export function resourceDocuments({ host, issuer }: Parts): ProtocolEndpoint[] {
  const document = (operationId: string, path: string): ProtocolMethod => ({
    operationId,
    summary: 'Get the metadata of a protected resource (RFC 9728)',
    access,
    responses: DOCUMENT,
    errors: [notFound],
    handler: async (ctx, api) => {
      const origin = originFor(ctx, host);
      ctx.type = 'application/json';
      ctx.body = JSON.stringify({
        resource: `${origin}${path}`,
        authorization_servers: [issuer?.name ?? origin],
        scopes_supported: [...toolScopes(api), 'offline_access'],
        bearer_methods_supported: ['header'],
        resource_name: 'Plant care',
        resource_documentation: `${origin}/docs`,
      });
    },
  });
  return [
    open(RESOURCE_DOCUMENT, { GET: document('getResource', '') }),
    open(`${RESOURCE_DOCUMENT}${TOOLS_PATH}`, { GET: document('getToolsResource', TOOLS_PATH) }),
  ];
}
