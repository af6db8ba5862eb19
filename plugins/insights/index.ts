import { on } from '../../src/data/writing/transaction';
import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import eventsPlugin from '../events';
import { careChanged } from '../events/domain-events';
import plantsPlugin from '../plants';
import { plantDeleted } from '../plants/domain-events';
import { CareDays } from './care-days';
import { GrowthTotals } from './growth';
import { careMonthModel, growthModel } from './model';
import { routes } from './routes';
import { InsightService } from './service';

export type { InsightsView } from './schema';

/** Statistics of a person's care. */
export default definePlugin({
  name: 'insights',
  requires: ['accounts', 'events', 'photos', 'plants'],
  scopes: { 'insights:read': 'Read insights' },
  models: [careMonthModel, growthModel],
  migrations: [
    { name: '0001-totals' },
    { name: '0002-growth-days' },
    { name: '0003-computed-runs' },
  ],
  tag: { name: 'Insights', description: 'Statistics of all care.' },
  setup: (host) => {
    const { events, deletions } = host.use(eventsPlugin);
    const careDays = new CareDays(host);
    const growth = new GrowthTotals(host, events);
    const plants = host.use(plantsPlugin);
    const accounts = host.use(accountsPlugin);
    const insights = new InsightService(host, {
      accounts,
      plants,
      events,
      deletions,
      careDays,
      growth,
    });
    return {
      operations: () => routes(insights),
      listeners: [
        on(careChanged, (tx, changes) => careDays.apply(tx, changes)),
        on(careChanged, (tx, changes) => growth.apply(tx, changes)),
        on(plantDeleted, (tx, { plantId }) => growth.deletePlant(tx, plantId)),
      ],
      derived: [
        { name: 'day counts', rebuild: (tx) => insights.rebuildDays(tx) },
        { name: 'growth', rebuild: (tx) => insights.rebuildGrowth(tx) },
      ],
    };
  },
});
