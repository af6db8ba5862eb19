import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';

/** One value of a metric, with its labels. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** A metric with its samples. */
export interface Family {
  name: string;
  help: string | undefined;
  type: string | undefined;
  samples: Sample[];
}

const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/;

/** Reads Prometheus' text format. */
export function familiesOf(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  const familyOf = (name: string): Family => {
    const family = families.get(name) ?? { name, help: undefined, type: undefined, samples: [] };
    families.set(name, family);
    return family;
  };
  for (const line of text.split('\n').filter(Boolean)) {
    const [, kind, about = '', rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === 'HELP') familyOf(about).help = rest;
    else if (kind === 'TYPE') familyOf(about).type = rest;
    else {
      const sample = sampleOf(line);
      const whole = sample.name.replace(/_(bucket|sum|count)$/, '');
      familyOf(families.has(sample.name) ? sample.name : whole).samples.push(sample);
    }
  }
  return families;
}

function sampleOf(line: string): Sample {
  const [, name, labels = '', value] = LINE.exec(line) ?? [];
  if (name === undefined) throw new Error(`This is not a sample: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
  return {
    name,
    labels: Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, text])),
    value: Number(value),
  };
}

/**
 * The program's metrics as a collector gets them.
 *
 * @param ca the certificate to trust, for HTTPS
 * @throws Error unless the status is 200
 */
export async function scrape(url: string, ca?: string): Promise<Map<string, Family>> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const asked =
      ca === undefined
        ? http.get(`${url}/metrics`, { agent: false }, resolve)
        : https.get(`${url}/metrics`, { agent: false, ca }, resolve);
    asked.once('error', reject);
  });
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${body}`);
  return familiesOf(body);
}

/** The value of a sample with these labels, if there is one. */
export function valueOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  return [...families.values()]
    .flatMap(({ samples }) => samples)
    .find(
      (sample) =>
        sample.name === name &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    )?.value;
}
