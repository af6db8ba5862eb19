import { on } from '../../src/data/writing/transaction';
import { definePlugin } from '../../src/plugins/plugin';
import accountsPlugin from '../accounts';
import carePlugin from '../care';
import { membershipEnded } from '../members/domain-events';
import { Calendars } from './calendars';
import { endpoint } from './endpoint';
import { calendarModel } from './model';
import { routes } from './routes';

/** Due care as a calendar to which other programs subscribe. */
export default definePlugin({
  name: 'calendar-feed',
  requires: ['accounts', 'care', 'members', 'pages', 'plants'],
  models: [calendarModel],
  tag: { name: 'Calendar', description: 'Due care as a calendar to which programs subscribe.' },
  setup: (host) => {
    const accounts = host.use(accountsPlugin);
    const calendars = new Calendars(host, accounts);
    accounts.data.keep(calendars.kept);
    return {
      operations: () => routes(calendars),
      listeners: [
        on(membershipEnded, (tx, { person, garden }) => calendars.forget(tx, person, garden)),
      ],
      protocols: [endpoint(calendars, host.use(carePlugin))],
    };
  },
});
