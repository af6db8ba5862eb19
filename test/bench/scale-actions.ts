import { listOf } from './gardens';
import type { Sample, Target } from './load';
import type { Gardener } from './subjects';

/** An action of an account that is timed. */
export interface Action {
  name: string;
  /** Prepares what the action needs; returns the request to time. */
  prepare: (target: Target, gardener: Gardener) => Promise<Sample>;
}

/**
 * The number of events in the requested month: the more an account has, the closer they are.
 */
const MONTH_EVENTS = 30;

export const LIST = 'list of plants';
export const INSIGHTS = 'insights';

const READS: readonly Action[] = [
  action(LIST, ({ token }) => listOf(token)),
  action('one plant', (user) => request(user, 'GET', plantOf(user))),
  action('page of 15 events', (user) => request(user, 'GET', `${plantOf(user)}/events`)),
  {
    name: `month of ${MONTH_EVENTS} events`,
    prepare: async (target, user) => {
      const page = request(user, 'GET', `${plantOf(user)}/events?limit=${MONTH_EVENTS}`);
      const { text } = await target.send(page);
      const { items } = JSON.parse(text) as { items: { occurredAt: string }[] }; // A page of events.
      const start = Date.parse(items.at(-1)?.occurredAt ?? '');
      const month = `monthStart=${start}&monthEnd=${Date.now()}`;
      return request(user, 'GET', `${plantOf(user)}/events/month?${month}`);
    },
  },
  action(INSIGHTS, (user) => request(user, 'GET', '/api/insights')),
];

const WRITES: readonly Action[] = [
  action('create event', newEvent),
  onNew('change event', newEvent, (user, id) => {
    return request(user, 'PATCH', `/api/events/${id}`, { text: 'Two new leaves' });
  }),
  onNew('delete event', newEvent, (user, id) => request(user, 'DELETE', `/api/events/${id}`)),
  action('create plant', newPlant),
  action('change plant', (user) => request(user, 'PATCH', plantOf(user), { notes: 'By the door' })),
  onNew('delete plant', newPlant, (user, id) => request(user, 'DELETE', `/api/plants/${id}`)),
];

/** Every read and write whose time must not grow with the account. */
export const ACTIONS: readonly Action[] = [...READS, ...WRITES];

/** The request that creates an event. */
export function newEvent(user: Gardener): Sample {
  return request(user, 'POST', `${plantOf(user)}/events`, { type: 'note', text: 'A new leaf' });
}

/** The request that deletes a plant. */
export function deletionOf(user: Gardener): Sample {
  return request(user, 'DELETE', plantOf(user));
}

/** The times of consecutive actions, in ms. */
export async function timesOf(
  { prepare }: Action,
  target: Target,
  gardener: Gardener,
  times: number,
): Promise<number[]> {
  const took: number[] = [];
  for (let turn = 0; turn < times; turn += 1) {
    const sample = await prepare(target, gardener);
    const sent = performance.now();
    await target.send(sample);
    took.push(performance.now() - sent);
  }
  return took;
}

function action(name: string, sampleOf: (user: Gardener) => Sample): Action {
  return { name, prepare: async (_, user) => sampleOf(user) };
}

/** An action on a record that was created for it. */
function onNew(
  name: string,
  creationOf: (user: Gardener) => Sample,
  sampleOf: (user: Gardener, id: string) => Sample,
): Action {
  return {
    name,
    prepare: async (target, user) => {
      const { text } = await target.send(creationOf(user));
      const { id } = JSON.parse(text) as { id: string }; // What was created.
      return sampleOf(user, id);
    },
  };
}

function newPlant(user: Gardener): Sample {
  return request(user, 'POST', '/api/plants', { name: 'Fern' });
}

function plantOf({ plantId }: Gardener): string {
  return `/api/plants/${plantId}`;
}

function request(
  { token }: Gardener,
  method: Sample['method'],
  path: string,
  body?: object,
): Sample {
  const headers = { authorization: `Bearer ${token}` };
  return { method, path, headers, ...(body ? { body } : {}) };
}
