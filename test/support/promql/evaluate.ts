import { parser } from '@prometheus-io/lezer-promql';

import { histogramQuantiles, increaseOf } from './functions';
import { keyOf, type Labels, type Sample, type TimeSeries, withoutName } from './time-series';

/** A node of the parser's tree. */
type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

/** A scalar, or a value for each of several sets of labels. */
type Value = number | Sample[];

const ARITHMETIC: Readonly<Record<string, (left: number, right: number) => number>> = {
  Add: (left, right) => left + right,
  Sub: (left, right) => left - right,
  Mul: (left, right) => left * right,
  Div: (left, right) => left / right,
};

const COMPARISONS: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  Eql: (left, right) => left === right,
  Neq: (left, right) => left !== right,
  Gtr: (left, right) => left > right,
  Gte: (left, right) => left >= right,
  Lss: (left, right) => left < right,
  Lte: (left, right) => left <= right,
};

const AGGREGATIONS: Readonly<Record<string, (values: readonly number[]) => number>> = {
  Sum: (values) => values.reduce((sum, value) => sum + value, 0),
  Count: (values) => values.length,
  Max: (values) => Math.max(...values),
};

const MATCHES: Readonly<Record<string, (value: string, wanted: string) => boolean>> = {
  EqlSingle: (value, wanted) => value === wanted,
  Neq: (value, wanted) => value !== wanted,
  EqlRegex: (value, wanted) => wholly(wanted).test(value),
  NeqRegex: (value, wanted) => !wholly(wanted).test(value),
};

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * What an expression of PromQL comes to at a moment, in Unix seconds: the part of the language that
 * the rules for alerts use, with the meaning that Prometheus's documentation gives it.
 *
 * @throws Error that names what is not supported
 */
export function evaluate(expression: string, series: TimeSeries, at: number): Value {
  const { topNode } = parser.parse(expression);
  topNode.cursor().iterate(({ type, from }) => {
    if (type.isError) throw new Error(`This is no PromQL at its character ${from}: ${expression}`);
  });
  return new Evaluation(expression, series, at).valueOf(topNode);
}

/** The seconds of a duration such as `5m`. */
export function secondsOf(duration: string): number {
  const [, count, unit = ''] = /^(\d+)([a-z])$/.exec(duration) ?? [];
  const seconds = UNIT_SECONDS[unit];
  if (seconds === undefined) throw new Error(`The duration ${duration} is not supported.`);
  return Number(count) * seconds;
}

class Evaluation {
  readonly #expression: string;
  readonly #series: TimeSeries;
  readonly #at: number;

  constructor(expression: string, series: TimeSeries, at: number) {
    this.#expression = expression;
    this.#series = series;
    this.#at = at;
  }

  valueOf(node: SyntaxNode): Value {
    switch (node.name) {
      case 'PromQL':
      case 'ParenExpr':
        return this.valueOf(this.#only(node));
      case 'NumberDurationLiteral':
        return this.#number(node);
      case 'VectorSelector':
        return this.#select(node).flatMap((series) => {
          const value = series.valueAt(this.#at);
          return value === undefined ? [] : [{ labels: series.labels, value }];
        });
      case 'BinaryExpr':
        return this.#operation(node);
      case 'AggregateExpr':
        return this.#aggregation(node);
      case 'FunctionCall':
        return this.#call(node);
      default:
        return this.#refuse(node);
    }
  }

  #call(node: SyntaxNode): Value {
    const [identifier, body] = childrenOf(node);
    const [name] = identifier ? childrenOf(identifier) : [];
    const args = body ? childrenOf(body) : [];
    switch (name?.name) {
      case 'Time':
        return this.#at;
      case 'Rate':
        return this.#growth(args[0] ?? node, (increase, seconds) => increase / seconds);
      case 'Increase':
        return this.#growth(args[0] ?? node, (increase) => increase);
      case 'HistogramQuantile': {
        const [quantile, buckets] = args.map((arg) => this.valueOf(arg));
        if (typeof quantile !== 'number' || !Array.isArray(buckets)) return this.#refuse(node);
        return histogramQuantiles(quantile, buckets);
      }
      default:
        return this.#refuse(name ?? node);
    }
  }

  #growth(matrix: SyntaxNode, toResult: (increase: number, seconds: number) => number): Sample[] {
    const [selector, range] = childrenOf(matrix);
    if (matrix.name !== 'MatrixSelector' || !selector || !range) return this.#refuse(matrix);
    const seconds = secondsOf(this.#text(range));
    const from = this.#at - seconds;
    return this.#select(selector).flatMap((series) => {
      const increase = increaseOf(series.between(from, this.#at), from, this.#at);
      if (increase === undefined) return [];
      return [{ labels: withoutName(series.labels), value: toResult(increase, seconds) }];
    });
  }

  #select(node: SyntaxNode) {
    if (node.name !== 'VectorSelector') return this.#refuse(node);
    const [name, matchers] = childrenOf(node);
    if (name?.name !== 'Identifier') return this.#refuse(name ?? node);
    const conditions = (matchers ? childrenOf(matchers) : []).map((each) => this.#matcher(each));
    return this.#series
      .named(this.#text(name))
      .filter(({ labels }) => conditions.every((isMet) => isMet(labels)));
  }

  #matcher(node: SyntaxNode): (labels: Labels) => boolean {
    const [label, operator, literal] = childrenOf(node);
    if (node.name !== 'UnquotedLabelMatcher' || !label || !operator || !literal) {
      return this.#refuse(node);
    }
    const kind = this.#only(operator);
    const matches = MATCHES[kind.name] ?? this.#refuse(kind);
    const wanted = /^"([^"\\]*)"$/.exec(this.#text(literal))?.[1] ?? this.#refuse(literal);
    const name = this.#text(label);
    return (labels) => matches(labels[name] ?? '', wanted);
  }

  #aggregation(node: SyntaxNode): Sample[] {
    let aggregate: ((values: readonly number[]) => number) | undefined;
    let by: string[] = [];
    let samples: Value | undefined;
    for (const child of childrenOf(node)) {
      if (child.name === 'AggregateOp') {
        const operator = this.#only(child);
        aggregate = AGGREGATIONS[operator.name] ?? this.#refuse(operator);
      } else if (child.name === 'AggregateModifier') {
        const [kind = child, names] = childrenOf(child);
        if (kind.name !== 'By' || !names) return this.#refuse(kind);
        by = childrenOf(names).map((name) => this.#text(name));
      } else samples = this.valueOf(this.#only(child));
    }
    if (!aggregate || !Array.isArray(samples)) return this.#refuse(node);
    const groups = new Map<string, { labels: Labels; values: number[] }>();
    for (const { labels, value } of samples) {
      const kept = Object.fromEntries(
        by.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name]]])),
      );
      const group = groups.get(keyOf(kept)) ?? { labels: kept, values: [] };
      group.values.push(value);
      groups.set(keyOf(kept), group);
    }
    return [...groups.values()].map(({ labels, values }) => ({ labels, value: aggregate(values) }));
  }

  #operation(node: SyntaxNode): Value {
    const [one, operator, two, ...others] = childrenOf(node);
    // What says on which labels to match stands between the operator and its right side.
    if (!one || !operator || !two || others.length > 0) return this.#refuse(two ?? node);
    const left = this.valueOf(one);
    const right = this.valueOf(two);
    const calculate = ARITHMETIC[operator.name];
    if (typeof left === 'number' && typeof right === 'number') {
      return calculate ? calculate(left, right) : this.#refuse(operator);
    }
    const compare = COMPARISONS[operator.name];
    return pairsOf(left, right).flatMap(({ sample, values: [leftValue, rightValue] }) => {
      if (calculate) {
        return { labels: withoutName(sample.labels), value: calculate(leftValue, rightValue) };
      }
      return (compare ?? this.#refuse(operator))(leftValue, rightValue) ? [sample] : [];
    });
  }

  #number(node: SyntaxNode): number {
    const value = Number(this.#text(node));
    return Number.isNaN(value) ? this.#refuse(node) : value;
  }

  /** The one part that a node has. */
  #only(node: SyntaxNode): SyntaxNode {
    const [child, ...others] = childrenOf(node);
    return child && others.length === 0 ? child : this.#refuse(others[0] ?? node);
  }

  #text({ from, to }: SyntaxNode): string {
    return this.#expression.slice(from, to);
  }

  #refuse(node: SyntaxNode): never {
    throw new Error(`${node.name} is not supported here: ${this.#text(node)}`);
  }
}

/** What an operator has on its two sides, for each sample of the result; vectors match on all labels. */
function pairsOf(left: Value, right: Value): { sample: Sample; values: [number, number] }[] {
  if (!Array.isArray(left)) {
    if (!Array.isArray(right)) return [];
    return right.map((sample) => ({ sample, values: [left, sample.value] }));
  }
  if (!Array.isArray(right)) {
    return left.map((sample) => ({ sample, values: [sample.value, right] }));
  }
  const byLabels = new Map(right.map((sample) => [keyOf(withoutName(sample.labels)), sample]));
  return left.flatMap((sample) => {
    const match = byLabels.get(keyOf(withoutName(sample.labels)));
    return match ? [{ sample, values: [sample.value, match.value] }] : [];
  });
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}

function wholly(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`, 's');
}
