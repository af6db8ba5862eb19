import type { Feature } from '../../src/plugins/operation';

export const monthlyView: Feature = {
  name: 'monthly view',
  tiers: ['pro'],
  remedy: 'Call list_events instead, page by page.',
};
