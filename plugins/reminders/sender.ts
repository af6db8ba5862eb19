import type { Account, HeldToken } from '../../src/core/identity';
import { asUuid, idText, newId, type StoredId } from '../../src/core/ids';
import { ownOrigin } from '../../src/core/settings/public-origin';
import { DAY_MS, HOUR_MS } from '../../src/core/time';
import type { Host } from '../../src/plugins/host';
import type { Accounts } from '../accounts';
import { type Care, dueEvent } from '../care';
import { type Channel, type Delivery, eventBody, laneOf, type Outcome } from '../deliveries';
import type { Memberships } from '../members';
import type { Means, Message, Result } from './channels/means';
import { type ChannelName, DUE, type Reminder, reminderNotFound } from './model';
import { Results } from './results';
import type { Reminders } from './service';
import { textOf } from './texts';

/** The pause before each: requests to the API come first. */
const PACE_MS = 10;

/** Longer than a day, on which none begins twice. */
const KEPT_MS = 2 * DAY_MS;

interface Dependencies {
  host: Host;
  accounts: Accounts;
  care: Care;
  members: Memberships;
  reminders: Reminders;
  means: readonly Means[];
}

/** The name of a channel among all that send. */
function nameOf(channel: ChannelName): string {
  return `reminder_${channel}`;
}

/** The lane of the deliveries of a channel. */
export function laneFor(channel: ChannelName): StoredId {
  return laneOf(nameOf(channel));
}

/** Sends what is due when it is sent: nothing, if the care was done meanwhile. */
export class Sender {
  readonly #host: Host;
  readonly #accounts: Accounts;
  readonly #care: Care;
  readonly #members: Memberships;
  readonly #reminders: Reminders;
  readonly #results: Results;
  readonly #means: ReadonlyMap<ChannelName, Means>;
  readonly #link: string;

  constructor({ host, accounts, care, members, reminders, means }: Dependencies) {
    this.#host = host;
    this.#accounts = accounts;
    this.#care = care;
    this.#members = members;
    this.#reminders = reminders;
    this.#results = new Results(host);
    this.#means = new Map(means.map((each) => [each.channel, each]));
    this.#link = `${ownOrigin(host.settings)}/garden`;
  }

  /** The channels to open: each is a lane of its own. */
  get channels(): Channel[] {
    return Array.from(this.#means.values(), (means) => ({
      name: nameOf(means.channel),
      concurrency: means.concurrency,
      paceMs: PACE_MS,
      longestPauseMs: HOUR_MS,
      keptMs: KEPT_MS,
      send: (delivery) => this.#send(means, delivery),
      ...(means.abort && { abort: means.abort }),
    }));
  }

  /** Makes one attempt now. @throws ApiError reminder_not_found */
  async test(
    userId: string,
    token: Pick<HeldToken, 'garden'>,
    id: string,
  ): Promise<{ sent: boolean; problem: string | null }> {
    const found = await this.#reminders.find({ userId }, id, token);
    if (!found) throw reminderNotFound.error();
    const means = this.#means.get(found.channel);
    const people = await this.#peopleOf(found);
    if (!people || !means) return { sent: false, problem: 'There is nothing to send it with.' };
    const { message } = await this.#messageOf(people, { id: idText(newId()), at: new Date() });
    const result = await means.send(found, message);
    await this.#results.record(found, result);
    return { sent: result.error === null, problem: result.error };
  }

  async #send(means: Means, delivery: Delivery): Promise<Outcome | undefined> {
    const { destinationId: _id, userId, createdAt: at } = delivery;
    const found = _id && (await this.#reminders.find({ userId }, asUuid(_id)));
    const people = found?.active ? await this.#peopleOf(found) : undefined;
    if (!found || !people) return undefined;
    const id = idText(delivery._id);
    const { message, isDue } =
      delivery.type === DUE
        ? await this.#messageOf(people, { id, at })
        : { message: this.#eventOf(id, delivery.body), isDue: true };
    if (!isDue) return undefined;
    const result: Result = await means.send(found, message);
    await this.#results.record(found, result);
    return result.isGone || result.isRefused ? undefined : result;
  }

  /** Who is reminded, and whose plants they are; undefined if the garden is not shared any more. */
  async #peopleOf({ userId, garden }: Reminder): Promise<People | undefined> {
    const person = await this.#accounts.person(userId);
    if (garden === null || !person) return person && { person, owner: person };
    const owner = await this.#accounts.person(garden);
    if (owner && (await this.#members.isMember(garden, userId))) return { person, owner };
    await this.#host.transactShared(({ session }) => this.#reminders.end(session, userId, garden));
    return undefined;
  }

  /** For programs, which alone are told of anything else than due care. */
  #eventOf(id: string, event: string): Message {
    return { id, event, title: '', text: '', language: 'en', link: this.#link };
  }

  async #messageOf(
    { person, owner }: People,
    { id, at }: { id: string; at: Date },
  ): Promise<{ message: Message; isDue: boolean }> {
    const { id: userId } = owner;
    const due = await this.#care.due(owner, { userId }, {}, new Date());
    const event = eventBody({ type: DUE, createdAt: at, userId }, dueEvent(due));
    const garden = userId === person.id ? null : (owner.gardenName ?? userId);
    const text = textOf(due.items, { language: person.language, garden });
    const message = { id, ...text, link: this.#link, event };
    return { message, isDue: due.items.length > 0 };
  }
}

interface People {
  person: Account;
  owner: Account;
}
