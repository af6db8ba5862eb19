import { readFileSync } from 'node:fs';
import path from 'node:path';

import { type AlertRule, alertRules, alertsOf } from '../support/promql/alert-rules';
import { Collector } from '../support/promql/collector';
import { CAN_MOUNT } from '../support/tmpfs';
import { alertCauses, type Collect, listByTool } from './alert-causes';
import { startWatchedServices, type WatchedServices } from './watched-services';

const OPERATIONS = path.resolve(__dirname, '../../docs/operations.md');
const QUARTER_S = 90 * 24 * 60 * 60;

const rules = new Map(alertRules().map((rule) => [rule.alert, rule]));

let services: WatchedServices;
let calm: Collector;

beforeAll(async () => {
  services = await startWatchedServices();
  const { service, server } = services;
  const user = await service.user({ expiresInSeconds: QUARTER_S });
  calm = new Collector([service, server]);
  // Longer than any rule waits.
  for (let minute = 0; minute < 75; minute += 5) {
    await calm.watch(1, async () => {
      await user.plant();
      await user.get('/api/plants').expect(200);
      await listByTool(user).expect(200);
      await service.anonymous.get('/api/plants').expect(401);
    });
    calm.rest(4);
  }
}, 120_000);
afterAll(() => services.close());

/** What was collected under a cause, which several alerts may have. */
const collections = new Map<Collect, Promise<Collector>>();

function collectOnce(collect: Collect): Promise<Collector> {
  const collected = collections.get(collect) ?? collect(services);
  collections.set(collect, collected);
  return collected;
}

function ruleOf(alert: string): AlertRule {
  const rule = rules.get(alert);
  if (!rule) throw new Error(`There is no rule ${alert}.`);
  return rule;
}

/** What a test cannot cause: without a disk of its own that is small, any disk counts as full. */
function adapted(rule: AlertRule): AlertRule {
  if (CAN_MOUNT) return rule;
  return { ...rule, expr: rule.expr.replace('free_bytes < 2e9', 'free_bytes < 2e18') };
}

test('there is a cause to try for each alert, and no other', () => {
  expect(Object.keys(alertCauses)).toEqual([...rules.keys()]);
});

test('docs/operations.md says what to do about each alert, and about no other', () => {
  const named = readFileSync(OPERATIONS, 'utf8').matchAll(/^\| `(PlantCare\w+)` \|/gm);
  expect(Array.from(named, ([, alert]) => alert)).toEqual([...rules.keys()]);
});

test.each([...rules.keys()])('%s does not fire while all is well', (alert) => {
  expect(alertsOf(ruleOf(alert), calm)).toEqual([]);
});

test.each(
  Object.entries(alertCauses).map(([alert, [cause, collect]]) => ({ alert, cause, collect })),
)('$alert fires when $cause', async ({ alert, collect }) => {
  const rule = adapted(ruleOf(alert));
  const fired = alertsOf(rule, await collectOnce(collect));
  expect(fired.length).toBeGreaterThan(0);
  const named = [...rule.annotations.summary.matchAll(/\$labels\.(\w+)/g)];
  for (const { labels } of fired) {
    expect(Object.keys(labels)).toEqual(expect.arrayContaining(named.map(([, label]) => label)));
  }
});
