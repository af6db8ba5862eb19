import { definePlugin } from '../../src/plugins/plugin';
import { cursorExpired } from './errors';
import { routes } from './routes';

/** What changed, for those who keep a copy of their data: the lists that plugins contribute. */
export default definePlugin({
  name: 'changes',
  requires: ['plants'],
  collects: ['changes'],
  errors: [cursorExpired],
  tag: { name: 'Changes', description: 'What changed, for those who keep a copy of their data.' },
  setup: (host) => ({ operations: () => routes(host) }),
});
