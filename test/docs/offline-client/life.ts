import { dueCare } from '../../../examples/offline-client/due';
import { DAY_MS } from '../../../src/core/time';
import type { Device } from './device';

const ZONES = ['Europe/Paris', 'America/New_York', 'Asia/Tokyo'];

/** What people do on their devices; the same in every run with the same seed. */
export class Life {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  #random(): number {
    this.#state = (this.#state * 48_271) % 2_147_483_647;
    return this.#state / 2_147_483_647;
  }

  chance(probability: number): boolean {
    return this.#random() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.#random() * items.length)];
    if (item === undefined) throw new Error('There is none.');
    return item;
  }

  /**
   * A person does something on a device, which may be offline.
   *
   * @param moves whether the person may change the time zone
   * @returns the text of an event that they wrote
   */
  act({ client }: Device, text: string, { moves = true } = {}): string[] {
    const { copy, account } = client.state;
    const plants = Object.values(copy.plants).filter(({ archivedAt }) => !archivedAt);
    const occurredAt = new Date().toISOString();
    const kind = this.#random();
    if (plants.length < 3 || kind < 0.15) {
      const wateringFrequencyDays = 1 + Math.floor(this.#random() * 9);
      const key = client.enqueue('POST', '/api/plants', { name: text, wateringFrequencyDays });
      client.enqueue('POST', `/api/plants/${key}/events`, { type: 'note', text, occurredAt });
      client.edit('plants', key, { location: text });
      return [text];
    }
    const { id } = this.pick(plants);
    const due = dueCare(copy, account?.timezone ?? 'UTC').filter(({ plantId }) => plantId === id);
    if (kind < 0.4) {
      client.enqueue('POST', `/api/plants/${id}/events`, { type: 'watered', text, occurredAt });
      return [text];
    }
    if (kind < 0.6) client.edit('plants', id, { [this.pick(['notes', 'location'])]: text });
    else if (kind < 0.7 && due[0]) client.decide('skip', due[0]);
    else if (kind < 0.8 && due[0]) {
      const until = new Date(Date.now() + 3 * DAY_MS).toISOString().slice(0, 10);
      client.decide('snooze', due[0], { until });
    } else if (kind < 0.85) {
      const rule = this.pick([{ everyDays: 3 }, { weekdays: ['mon', 'fri'] }]);
      client.enqueue('POST', `/api/plants/${id}/schedules`, { care: 'fertilized', ...rule });
    } else if (kind < 0.9) {
      client.enqueue('POST', `/api/plants/${id}/archive`, { reason: 'given_away' });
    } else if (moves) client.enqueue('PATCH', '/api/account', { timezone: this.pick(ZONES) });
    return [];
  }
}

/** The records of a copy, by id. */
export function sorted(items: Readonly<Record<string, unknown>>): unknown[] {
  return Object.entries(items)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item);
}
