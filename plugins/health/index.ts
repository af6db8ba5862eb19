import { definePlugin } from '../../src/plugins/plugin';
import { routes } from './routes';

/** What operators' own programs ask: does it live, can it serve, what does it count. */
export default definePlugin({
  name: 'health',
  requires: [],
  setup: (host) => ({ operations: () => routes(host) }),
});
