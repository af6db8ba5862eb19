import { DAY_MS, HOUR_MS } from '../../../src/core/time';
import { canonicalJson } from '../../../src/core/values';
import { Client, record, records, type Reply } from '../../support/client';
import { setClock } from '../../support/clock';
import { Copy, listed } from '../../support/copy';
import { differencesOf } from '../../support/program';
import type { TestService } from '../../support/service';
import { same } from '../actor';
import { dayAfter } from '../days';
import { order } from '../model';
import { sameByGuide } from './guide';
import { type Item, PlainCare } from './plain-care';
import { PLACES, withoutNull, type Write, ZONES } from './writes';

/** A person with two phones, each with a copy of the account. */
export class Person {
  readonly #service: TestService;
  readonly #id: string;
  readonly #devices;
  readonly #oracle;
  readonly #deleted: string[] = [];
  #writes = 0;

  constructor(
    service: TestService,
    { id, token }: { id: string; token: string },
    timezone: string,
  ) {
    this.#service = service;
    this.#id = id;
    this.#devices = [new Copy(), new Copy()].map((copy) => {
      return { client: new Client(service.url, token), copy };
    });
    this.#oracle = new PlainCare(this.#devices[0]?.copy ?? new Copy(), timezone);
  }

  get #client(): Client {
    const [device] = this.#devices;
    if (!device) throw new Error('Everybody has two devices.');
    return device.client;
  }

  async write(write: Write): Promise<void> {
    const { kind, pick, other, days, device, care, change, plant: fields, type } = write;
    const client = this.#devices[device]?.client ?? this.#client;
    const { copy } = this.#oracle;
    const one = (ids: Iterable<string>, index = pick): string => {
      const all = [...ids];
      return all[index % Math.max(1, all.length)] ?? '00000000-0000-4000-8000-000000000000';
    };
    const [plant, event] = [one(copy.plants.keys()), one(copy.events.keys())];
    const schedule = one(copy.schedules.keys(), other);
    const occurredAt = new Date(Date.now() - (days % 25) * DAY_MS + DAY_MS / 2).toISOString();
    const moment = days % 2 === 0 ? { occurredAt } : {};
    // The clock is not running.
    setClock(Date.now() + 61_000);
    const send = async (method: string, path: string, body?: object) => {
      const answer = await client.send(method, path, { body });
      if (answer.status >= 500) throw new Error(`${method} ${path}: ${answer.status}`);
      return answer.status < 300 ? answer : undefined;
    };
    const post = (path: string, body?: object) => send('POST', path, body);
    this.#writes += 1;
    switch (kind) {
      case 'plant':
        await post('/api/plants', withoutNull(fields));
        break;
      case 'schedule':
        await post(`/api/plants/${plant}/schedules`, care);
        break;
      case 'change schedule':
        await send('PATCH', `/api/schedules/${schedule}`, change);
        break;
      case 'delete schedule':
        await send('DELETE', `/api/schedules/${schedule}`);
        break;
      case 'event': {
        const plantId = String((copy.schedules.get(schedule) ?? { plantId: plant })['plantId']);
        const ofSchedule = pick % 2 === 0 ? { scheduleId: schedule } : {};
        await post(`/api/plants/${plantId}/events`, { type, ...moment, ...ofSchedule });
        break;
      }
      case 'move event':
        await send('PATCH', `/api/events/${event}`, { occurredAt });
        break;
      case 'assign event': {
        const plantId = copy.events.get(event)?.['plantId'];
        const own = [...copy.schedules.values()].filter((each) => each['plantId'] === plantId);
        const scheduleId =
          other % 3 === 0
            ? null
            : one(
                own.map(({ id }) => String(id)),
                other,
              );
        await send('PATCH', `/api/events/${event}`, { scheduleId });
        break;
      }
      case 'delete event':
        if (await send('DELETE', `/api/events/${event}`)) this.#deleted.push(event);
        break;
      case 'restore event':
        await post(`/api/events/${one(this.#deleted)}/restore`);
        break;
      case 'change plant': {
        const { wateringFrequencyDays, location } = fields;
        const isDone = await send('PATCH', `/api/plants/${plant}`, {
          wateringFrequencyDays,
          location,
        });
        if (isDone && wateringFrequencyDays === null) this.#oracle.clear(plant, 'watered');
        break;
      }
      case 'delete plant':
        if (pick % 3 === 0) await send('DELETE', `/api/plants/${plant}`);
        break;
      case 'archive':
        await post(`/api/plants/${plant}/archive`, { reason: 'died' });
        break;
      case 'unarchive':
        await post(`/api/plants/${plant}/unarchive`);
        break;
      case 'rename':
        await post('/api/locations/rename', { from: one(PLACES), to: one(PLACES, other) });
        break;
      case 'import':
        await post('/api/import', {
          plants: [
            {
              ...withoutNull(fields),
              createdAt: occurredAt < new Date().toISOString() ? occurredAt : undefined,
              schedules: [{ ...care, id: schedule }],
              events: [{ type, ...moment, ...(pick % 2 === 0 && { scheduleId: schedule }) }],
            },
          ],
        });
        break;
      case 'zone': {
        const timezone = one(ZONES);
        if (await send('PATCH', '/api/account', { timezone })) this.#oracle.timezone = timezone;
        break;
      }
      case 'wait':
        setClock(Date.now() + days * DAY_MS * 0.7 + 61_000);
        break;
      default:
        await this.#act(kind, write, { plant, schedule, moment }, post);
    }
  }

  /** Does, skips or snoozes care of one plant or several, and informs the oracle. */
  async #act(
    kind: 'done' | 'skip' | 'snooze',
    { whom, type, pick, days, other }: Write,
    { plant, schedule, moment }: { plant: string; schedule: string; moment: object },
    post: (path: string, body: object) => Promise<Reply | undefined>,
  ): Promise<void> {
    const oracle = this.#oracle;
    const active = oracle.needs();
    const ids = [...oracle.copy.plants.keys()].filter((_, index) => (index + pick) % 2 === 0);
    const location = PLACES[pick % PLACES.length] ?? '';
    const isOfSchedule = whom === 'schedule';
    const who = {
      schedule: { plantId: oracle.copy.schedules.get(schedule)?.['plantId'] ?? plant },
      plant: { plantId: plant },
      plants: { plantIds: ids },
      location: { location },
      all: { all: true },
    }[whom];
    const what = isOfSchedule ? { scheduleId: schedule } : { type: other % 7 === 6 ? 'any' : type };
    const today = oracle.today();
    const until = days % 8 === 0 ? null : dayAfter(today, days * 3);
    const hours = [undefined, undefined, -3 * days, 13][other % 4];
    // No two decisions have the same moment.
    const ms = this.#writes % 1000;
    const given = hours === undefined ? undefined : later(hours * HOUR_MS + ms);
    const chosen = active.filter((need) => {
      const { id, location: place } = need.plant;
      if (isOfSchedule) return need.schedule?.['id'] === schedule;
      if (what.type !== 'any' && need.care !== what.type) return false;
      if (whom === 'plant') return id === plant;
      if (whom === 'plants') return ids.includes(String(id));
      return whom === 'all' || (typeof place === 'string' ? place.trim() : '') === location.trim();
    });
    const isOfMany = (whom !== 'schedule' && whom !== 'plant') || what.type === 'any';
    const at = given ?? later(0);
    const [first] = chosen;
    const meant = [undefined, first && oracle.dueAt(first, at), today][pick % 3];
    const decision = {
      ...(given !== undefined && { at: given }),
      ...(meant !== undefined && { dueOn: meant }),
    };
    const body = {
      done: { ...who, ...what, ...moment },
      skip: { ...who, ...what, ...decision },
      snooze: { ...who, ...what, ...decision, until },
    }[kind];
    const standing = () => chosen.map((need) => canonicalJson(oracle.told(need)));
    const before = standing();
    const reply = await post(`/api/care/${kind}`, body);
    if (!reply || kind === 'done') return;
    const told = {
      at,
      zone: oracle.timezone,
      ...decision,
      ...(kind === 'snooze' && { until }),
      ...(isOfMany && { ofSeveral: true }),
    };
    for (const need of chosen) oracle.tell(need, told);
    const after = standing();
    const isShort = isOfMany && meant === undefined;
    const items = chosen
      .filter((_, index) => !isShort || before[index] !== after[index])
      .flatMap((need): Item[] => [oracle.item(need) ?? []].flat())
      .sort((one, another) => order(String(one['dueOn']), String(another['dueOn'])));
    same(reply.body, isOfMany ? { items } : (items[0] ?? { items }), `what ${kind} returned`);
  }

  /** Compares due care and snoozes with the oracle, and both copies with the lists. */
  async compare(): Promise<void> {
    for (const { client, copy } of this.#devices) await copy.sync(client);
    const oracle = this.#oracle;
    oracle.followEvents();
    oracle.followRules();
    for (const { copy } of this.#devices) {
      same(sorted([...copy.snoozes.values()]), sorted(oracle.snoozes()), 'snoozes');
    }
    await this.#compareLists();
    const get = async (query: string) => {
      const { status, body } = await this.#client.send('GET', `/api/care?${query}`);
      same(status, 200, query);
      return records(record(body)['items']);
    };
    const items = await get('dueBy=9999-12-31');
    same(items, oracle.items(), 'due care');
    for (const { copy } of this.#devices) sameByGuide(copy, oracle.timezone, items);
    const to = dayAfter(oracle.today(), 50);
    same(await get(`to=${to}`), oracle.items(to), 'care to come');
  }

  async #compareLists(): Promise<void> {
    const { snoozes: _, ...lists } = await listed(this.#client, []);
    for (const { copy } of this.#devices) {
      const { snoozes: __, ...contents } = copy.contents;
      same(contents, lists, 'the copy');
    }
  }

  async end(): Promise<void> {
    same(await differencesOf(this.#service.app, this.#id), [], 'derived data, rebuilt');
    for (const { client } of this.#devices) client.close();
  }
}

/** The moment some milliseconds from now. */
function later(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

function sorted(items: readonly object[]): string[] {
  return items.map(canonicalJson).sort();
}
