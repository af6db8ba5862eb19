import { definePlugin } from '../../src/plugins/plugin';
import { Endpoint } from './endpoint';
import { allowedOriginsSetting } from './origins';

/** The operations of all plugins as tools for AI assistants (Model Context Protocol). */
export default definePlugin({
  name: 'mcp',
  requires: [],
  settings: [allowedOriginsSetting],
  setup: (host) => {
    const endpoint = new Endpoint(host);
    return {
      transports: [
        {
          path: '/api/mcp',
          methods: {
            GET: {
              summary: 'Describe the tool endpoint',
              access: { public: 'which tools there are is no secret' },
              handler: (ctx, api) => endpoint.describe(ctx, api),
            },
            POST: {
              summary: 'Call tools by JSON-RPC 2.0 (Model Context Protocol)',
              access: { anyToken: 'each tool asks for the scope of its operation' },
              handler: (ctx, api) => endpoint.receive(ctx, api),
            },
          },
        },
      ],
    };
  },
});
