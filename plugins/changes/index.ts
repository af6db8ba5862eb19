import { definePlugin } from '../../src/plugins/plugin';
import { cursorExpired } from './cursor';
import { routes } from './routes';

/** Changes for clients that keep a copy, from the lists that plugins contribute. */
export default definePlugin({
  name: 'changes',
  requires: ['plants'],
  collects: ['changes'],
  errors: [cursorExpired],
  tag: { name: 'Changes', description: 'Changes for clients that keep a copy.' },
  setup: (host) => ({ operations: () => routes(host) }),
});
