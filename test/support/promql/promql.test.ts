import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type AlertRule, alertsOf } from './alert-rules';
import { Collector } from './collector';
import { evaluate } from './evaluate';
import { type Labels, type Sample, TimeSeries } from './time-series';

/** Series with a value for each minute, the first at 60 s. */
function collected(...all: readonly (readonly [Labels, ...(number | undefined)[]])[]): TimeSeries {
  const series = new TimeSeries();
  for (const [labels, ...values] of all) {
    for (const [index, value] of values.entries()) {
      series.of({ __name__: 'a', ...labels }).add((index + 1) * 60, value);
    }
  }
  return series;
}

/** The samples that an expression comes to, without the metric's name. */
function samplesOf(expression: string, series: TimeSeries, at: number): Sample[] {
  const samples = evaluate(expression, series, at);
  if (!Array.isArray(samples)) throw new Error('It is a number.');
  return samples.map(({ labels: { __name__: _name = '', ...labels }, value }) => ({
    labels,
    value,
  }));
}

function valuesOf(expression: string, series: TimeSeries, at: number): number[] {
  return samplesOf(expression, series, at).map(({ value }) => value);
}

describe('what a counter grew by', () => {
  test('includes what it grew by before a reset, and goes on to the ends of the range', () => {
    // 25 - 10, and the 20 before the reset, in 240 s of 300 s.
    const series = collected([{}, 10, 20, 5, 15, 25]);
    expect(valuesOf('increase(a[5m])', series, 300)).toEqual([43.75]);
    expect(valuesOf('rate(a[5m])', series, 300)).toEqual([43.75 / 300]);
  });

  test('does not begin before it was zero', () => {
    expect(valuesOf('increase(a[5m])', collected([{}, 0, 60]), 120)).toEqual([60]);
  });

  test('goes on for half the time between two values where the range is far longer', () => {
    const series = collected([{}, 600, 630, 660]);
    // 60 in 120 s, and 30 s before and after it.
    expect(valuesOf('increase(a[15m])', series, 600)).toEqual([90]);
  });

  test('is unknown from one value', () => {
    expect(valuesOf('increase(a[5m])', collected([{}, 7]), 60)).toEqual([]);
  });
});

describe('the quantile of a histogram', () => {
  const quantile = (counts: Readonly<Record<string, number>>, q = 0.95) =>
    valuesOf(
      `histogram_quantile(${q}, a)`,
      collected(...Object.entries(counts).map(([le, count]) => [{ le }, count] as const)),
      60,
    );

  test('lies in its bucket as far as its rank does', () => {
    expect(quantile({ '1': 50, '2.5': 90, '5': 100, '+Inf': 100 })).toEqual([3.75]);
    expect(quantile({ '1': 100, '+Inf': 100 }, 0.5)).toEqual([0.5]);
  });

  test('is the highest bound where it is beyond all of them', () => {
    expect(quantile({ '1': 50, '2.5': 90, '+Inf': 100 })).toEqual([2.5]);
  });

  test('is not a number where nothing was observed', () => {
    expect(quantile({ '1': 0, '+Inf': 0 })).toEqual([NaN]);
  });
});

test('the last value counts for less than five minutes, or until the series ended', () => {
  const series = collected([{}, 1]);
  expect(valuesOf('a', series, 359)).toEqual([1]);
  expect(valuesOf('a', series, 360)).toEqual([]);
  expect(valuesOf('a', collected([{}, 1, undefined]), 120)).toEqual([]);
});

test.each([
  ['status="503"', [2]],
  ['status!="503"', [1, 3]],
  ['status=~"5.."', [2]],
  ['status=~"5"', []],
  ['status!~"5..|200"', [3]],
  ['status=""', [3]],
])('{%s} selects %j', (matcher, expected) => {
  const series = collected([{ status: '200' }, 1], [{ status: '503' }, 2], [{}, 3]);
  expect(valuesOf(`a{${matcher}}`, series, 60)).toEqual(expected);
});

test.each([
  ['sum by (job) (a)', [{ job: 'x' }, 3], [{ job: 'y' }, 4]],
  ['max by (job) (a)', [{ job: 'x' }, 2], [{ job: 'y' }, 4]],
  ['count(count by (job) (a))', [{}, 2]],
  ['a > 1', [{ job: 'x', n: '2' }, 2], [{ job: 'y' }, 4]],
  ['a == 3 - 2', [{ job: 'x', n: '1' }, 1]],
  ['time() - a > (2 * 28.5)', [{ job: 'x', n: '1' }, 59], [{ job: 'x', n: '2' }, 58]],
  ['sum by (job) (a) / sum by (job) (a{n!="1"})', [{ job: 'x' }, 1.5], [{ job: 'y' }, 1]],
  ['sum by (job) (a{n="1"}) / sum by (job) (a)', [{ job: 'x' }, 1 / 3]],
] as const)('%s', (expression, ...expected) => {
  const series = collected([{ job: 'x', n: '1' }, 1], [{ job: 'x', n: '2' }, 2], [{ job: 'y' }, 4]);
  expect(samplesOf(expression, series, 60)).toEqual(
    expected.map(([labels, value]) => ({ labels, value })),
  );
});

test.each([
  ['avg(a)', 'Avg'],
  ['sum without (job) (a)', 'Without'],
  ['absent(a)', 'Absent'],
  ['a offset 5m', 'OffsetExpr'],
  ['a / on (job) a', 'MatchingModifierClause'],
  ['a > bool 1', 'BoolModifier'],
  ['a and a', 'And'],
  ['1 > 2', 'Gtr'],
  ['{__name__="a"}', 'LabelMatchers'],
  ['rate(a[10m:1m])', 'SubqueryExpr'],
  ['rate(a)', 'VectorSelector'],
  ['a{', 'no PromQL'],
])('%s is refused', (expression, named) => {
  expect(() => evaluate(expression, collected([{}, 1]), 60)).toThrow(named);
});

test('samples of two metrics match on their labels', () => {
  const series = collected([{ job: 'x' }, 1]);
  series.of({ __name__: 'b', job: 'x' }).add(60, 1);
  expect(valuesOf('a + b', series, 60)).toEqual([2]);
});

test('what is collected has the labels of its target, and ends where the target does not answer', async () => {
  const server = createServer((_, response) => response.end('a{job="own",x="1"} 7\n'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  const instance = `127.0.0.1:${port}`;
  const collector = new Collector([{ url: `http://${instance}` }]);
  await collector.watch(1);
  const closed = once(server, 'close');
  server.close();
  await closed;
  await collector.watch(1);
  const [first = 0, second = 0] = collector.evaluatedAt;
  expect(second).toBe(first + 60);
  const own = { job: 'plant-care', instance };
  expect(samplesOf('a', collector.series, first)).toEqual([
    { labels: { ...own, exported_job: 'own', x: '1' }, value: 7 },
  ]);
  expect(samplesOf('up', collector.series, first)).toEqual([{ labels: own, value: 1 }]);
  expect(samplesOf('a', collector.series, second)).toEqual([]);
  expect(samplesOf('up', collector.series, second)).toEqual([{ labels: own, value: 0 }]);
});

test('an alert fires once its expression has had a value for as long as it says', () => {
  const rule: AlertRule = { alert: 'A', expr: 'a > 1', for: '2m', annotations: { summary: '' } };
  const firedOn = (...values: number[]) => {
    const evaluatedAt = values.map((_, index) => (index + 1) * 60);
    return alertsOf(rule, { series: collected([{ x: '1' }, ...values]), evaluatedAt });
  };
  expect(firedOn(2, 3)).toEqual([]);
  expect(firedOn(2, 3, 0, 2, 3)).toEqual([]);
  expect(firedOn(2, 3, 4)).toEqual([{ labels: { x: '1' }, value: 4 }]);
});
