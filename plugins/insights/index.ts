import { definePlugin } from '../../src/plugins/define';
import eventsPlugin from '../events';
import plantsPlugin from '../plants';
import { CareDays } from './care-days';
import { GrowthTotals } from './growth';
import { careMonthModel, growthModel } from './model';
import { routes } from './routes';
import { InsightService } from './service';

/** What a person's care adds up to. */
export default definePlugin({
  name: 'insights',
  requires: ['accounts', 'events', 'plants'],
  scopes: { 'insights:read': 'Read insights' },
  models: [careMonthModel, growthModel],
  setup: (host) => {
    const { events, removals } = host.offers(eventsPlugin);
    const careDays = new CareDays(host);
    const growth = new GrowthTotals(host, events);
    const plants = host.offers(plantsPlugin);
    const insights = new InsightService(host, { plants, events, removals, careDays, growth });
    return {
      operations: routes(insights),
      listeners: {
        'care.changed': async (tx, change) => {
          await careDays.apply(tx, change.changes);
          await growth.apply(tx, change);
        },
        'plant.removed': (tx, { plantId }) => growth.forgetPlant(tx, plantId),
        'account.changed': async (tx, { before, after }) => {
          if (before.timezone !== after.timezone) await insights.rebuildDays(tx, after.timezone);
        },
      },
      derived: [
        { name: 'day counts', rebuild: (tx) => insights.rebuildDays(tx) },
        { name: 'growth', rebuild: (tx) => insights.rebuildGrowth(tx) },
      ],
    };
  },
});
