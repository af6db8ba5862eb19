import type { Sample } from './load';

/** A request that contenders are compared by. */
export interface Subject {
  name: string;
  /** The request to peers. */
  samples: readonly Sample[];
  /** The same request to this server, in several ways. */
  ways: readonly Way[];
  /** Whether all responses are equal; created records differ. */
  isComparable: boolean;
}

interface Way {
  name: string;
  samples: readonly Sample[];
  /** Whether it goes to a server without a response cache. */
  isCold: boolean;
}

/** An account of the benchmark, and one of its plants. */
export interface Gardener {
  token: string;
  plantId: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Everything that is measured.
 *
 * @param gardeners the first is the one whose data is read
 * @param etag of the list of the first one's plants
 */
export function subjectsOf(gardeners: readonly Gardener[], etag: string): Subject[] {
  const [first] = gardeners;
  if (!first) throw new Error('There is nobody to measure with.');
  const plant = `/api/plants/${first.plantId}`;
  const now = Date.now();
  const month = `${plant}/events/month?monthStart=${now - 28 * DAY_MS}&monthEnd=${now}`;
  const list = get(first, '/api/plants');
  const unchanged = { ...list, headers: { ...list.headers, 'if-none-match': etag } };
  return [
    read('list of 50 plants', list, { 'this server, answering 304': unchanged }),
    read('one plant', get(first, plant), {
      'this server, by a tool': toolCall(first, 'get_plant', { id: first.plantId }),
    }),
    read('page of 15 events', get(first, `${plant}/events`)),
    read('month of events', get(first, month)),
    read('insights', get(first, '/api/insights')),
    write('create event, one account', [logOf(first)]),
    write('create event, sixteen accounts', gardeners.map(logOf)),
    write(
      'create plant, sixteen accounts',
      gardeners.map((user) => post(user, '/api/plants', { name: 'Fern' })),
    ),
  ];
}

function read(name: string, sample: Sample, more: Readonly<Record<string, Sample>> = {}): Subject {
  const samples = [sample];
  const others = Object.entries(more);
  return {
    name,
    samples,
    ways: [
      { name: 'this server, hot', samples, isCold: false },
      { name: 'this server, cold', samples, isCold: true },
      ...others.map(([way, other]) => ({ name: way, samples: [other], isCold: false })),
    ],
    isComparable: true,
  };
}

function write(name: string, samples: readonly Sample[]): Subject {
  return {
    name,
    samples,
    ways: [{ name: 'this server', samples, isCold: false }],
    isComparable: false,
  };
}

function get({ token }: Gardener, path: string): Sample {
  return { method: 'GET', path, headers: { authorization: `Bearer ${token}` } };
}

function post({ token }: Gardener, path: string, body: object): Sample {
  return { method: 'POST', path, headers: { authorization: `Bearer ${token}` }, body };
}

function logOf(user: Gardener): Sample {
  return post(user, `/api/plants/${user.plantId}/events`, { type: 'note', text: 'A new leaf' });
}

function toolCall(user: Gardener, name: string, given: object): Sample {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
  const sample = post(user, '/api/mcp', body);
  const accept = 'application/json, text/event-stream';
  return { ...sample, headers: { ...sample.headers, accept } };
}
