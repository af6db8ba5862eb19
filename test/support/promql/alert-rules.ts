import { readFileSync } from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

import type { Collector } from './collector';
import { evaluate, secondsOf } from './evaluate';
import { keyOf, type Sample, withoutName } from './time-series';

const FILE = path.resolve(__dirname, '../../../deploy/prometheus/alerts.yml');

/** A rule as Prometheus's file of rules has it. */
export interface AlertRule {
  alert: string;
  expr: string;
  /** For how long the expression has to have a value, such as `5m`; not at all where left out. */
  for?: string;
  annotations: { summary: string };
}

/** The rules that operators are given. */
export function alertRules(): AlertRule[] {
  // The project's own file, whose form promtool checks where it is installed.
  const { groups } = parse(readFileSync(FILE, 'utf8')) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** The alerts that a rule fires on what was collected, each with its labels and its latest value. */
export function alertsOf(
  rule: AlertRule,
  { series, evaluatedAt }: Pick<Collector, 'series' | 'evaluatedAt'>,
): Sample[] {
  const patience = rule.for === undefined ? 0 : secondsOf(rule.for);
  const fired = new Map<string, Sample>();
  let activeSince = new Map<string, number>();
  for (const at of evaluatedAt) {
    const samples = evaluate(rule.expr, series, at);
    if (!Array.isArray(samples)) throw new Error(`${rule.alert} asks for a number.`);
    const active = new Map<string, number>();
    for (const { labels, value } of samples) {
      const key = keyOf(withoutName(labels));
      const since = activeSince.get(key) ?? at;
      active.set(key, since);
      if (at - since >= patience) fired.set(key, { labels: withoutName(labels), value });
    }
    activeSince = active;
  }
  return [...fired.values()];
}
