import { definePlugin } from '../../src/plugins/plugin';
import { startService } from '../support/program';
import { expectError } from '../support/shapes';

/** A protocol endpoint that authenticates its callers and then fails. */
const broken = definePlugin({
  name: 'broken',
  requires: [],
  tag: { name: 'Broken', description: 'An endpoint that fails.' },
  setup: () => ({
    exports: undefined,
    protocols: [
      {
        path: '/api/broken',
        methods: {
          POST: {
            summary: 'Fail',
            operationId: 'fail',
            access: { anyToken: 'it opens nothing' },
            handler: async (ctx, api) => {
              await api.authenticate(ctx);
              throw new TypeError('The endpoint is broken.');
            },
          },
        },
      },
    ],
  }),
});

test('a failure of a protocol endpoint is answered and logged, even if the budget is spent', async () => {
  const service = await startService({
    env: { RATE_LIMIT_READS_MAX: '1' },
    redisUrl: null,
    plugins: [broken],
  });
  const user = await service.user();
  for (const left of ['0', '0']) {
    const answer = await user.post('/api/broken', {});
    expectError(answer, 500, 'internal_error');
    expect(answer.headers['x-ratelimit-remaining']).toBe(left);
  }
  const failures = service.logged.filter((line) => line.includes('The endpoint is broken.'));
  expect(failures).toHaveLength(2);
  await user.get('/api/plants').expect(429);
  await service.close();
});
