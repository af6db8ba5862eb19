import type { QueryFilter } from 'mongoose';

import { Failures } from '../../src/core/each';
import { asUuid } from '../../src/core/ids';
import { calendarOf, timeOfDay, timesSince } from '../../src/core/time';
import type { Host } from '../../src/plugins/host';
import type { Job } from '../../src/plugins/plugin';
import { type Deliveries, type Delivery, eventId, newDelivery } from '../deliveries';
import {
  type ChannelName,
  clockModel,
  DUE,
  type Reminder,
  reminderModel,
  type Span,
  TRIED_MS,
} from './model';
import { laneFor } from './sender';

const NAME = 'reminders';
/** How many reminders of large zones begin in a second: 100,000 within half an hour. */
const RATE = 65;
/** The most seconds that one run makes up for. */
const MAX_SECONDS = 10;
/** While so many are due, no more of large zones begin: those of other zones would wait for them. */
const MOST_DUE = RATE * MAX_SECONDS;
/** After all times of a day. */
const MIDNIGHT = '24:00';
/** How many of each zone begin at once, so that no zone waits for a large one. */
const FIRST = 50;

/** A job that begins the reminders of each minute. No channel waits for another, whose receivers may be down. */
export function dueJob(host: Host, deliveries: Deliveries, channels: readonly ChannelName[]): Job {
  const lease = host.lease(NAME);
  const all = channels.map((channel) => beginning(host, deliveries, channel));
  return {
    name: NAME,
    everySeconds: 5,
    run: async () => {
      const due: Beginning[] = [];
      for (const each of all) if (await each.isDue()) due.push(each);
      return due.length > 0 && lease.try(() => beginAll(due));
    },
  };
}

async function beginAll(due: readonly Beginning[]): Promise<void> {
  const failures = new Failures();
  for (const { begin } of due) {
    await begin(failures).catch((error: unknown) => {
      failures.add(error);
    });
  }
  failures.throwIfAny();
}

type Beginning = ReturnType<typeof beginning>;

/**
 * Begins the reminders of a channel, of all zones in turn: so many of each at once, and of what is left as many as
 * the rate allows. When interrupted, it is repeated, and begins none twice.
 */
function beginning(host: Host, deliveries: Deliveries, channel: ChannelName) {
  const reminders = host.model(reminderModel);
  const clocks = host.model(clockModel);
  const read = () => clocks.findOne({ _id: channel }).lean().exec();

  /** The zones with reminders, each with a person in it. */
  function zones(): Promise<{ zone: string; userId: string }[]> {
    return reminders
      .aggregate<{ zone: string; userId: string }>([
        { $match: { active: true, channel } },
        { $sort: { timezone: 1, remindAt: 1, _id: 1 } },
        { $group: { _id: '$timezone', userId: { $first: '$userId' } } },
        { $project: { _id: 0, zone: '$_id', userId: 1 } },
      ])
      .exec();
  }

  /** Begins reminders of a span; returns what is left of it, if anything. */
  async function beginPart(span: Span, limit: number, now: Date): Promise<Span | undefined> {
    const { zone: timezone, day, from, to, last } = span;
    const times: QueryFilter<Reminder>[] = [
      { remindAt: { $gt: last?.remindAt ?? from, $lte: to } },
      ...(last ? [{ remindAt: last.remindAt, _id: { $gt: asUuid(last.id) } }] : []),
    ];
    const found = await reminders
      .find({ active: true, events: DUE, channel, timezone, $or: times })
      .sort({ remindAt: 1, _id: 1 })
      .limit(limit)
      .lean();
    const end = found.at(-1);
    if (!end) return undefined;
    await deliveries.insertMissing(found.map((each) => deliveryOf(each, day, now)));
    if (found.length < limit || end.remindAt === null) return undefined;
    return { ...span, last: { remindAt: end.remindAt, id: end._id } };
  }

  async function begin(failures: Failures): Promise<void> {
    const now = new Date();
    const { until: after = now, open = [] } = (await read()) ?? {};
    const left: Span[] = [];
    const seconds = Math.min(MAX_SECONDS, (now.getTime() - after.getTime()) / 1000);
    const room = Math.max(0, MOST_DUE - (await deliveries.countDue([laneFor(channel)])));
    const limit = Math.ceil(Math.min(RATE * seconds, room) / Math.max(1, open.length));
    const isNew = minuteOf(after) !== minuteOf(now);
    for (const { zone, userId } of isNew ? await zones() : []) {
      let spans: Span[];
      try {
        spans = spansOf(zone, after, now);
      } catch (error) {
        // This Node may not know the zone. One of its people stands for all.
        failures.add(error, userId);
        continue;
      }
      for (const span of spans) left.push(...asList(await beginPart(span, FIRST, now)));
    }
    for (const span of open) {
      left.push(...(limit > 0 ? asList(await beginPart(span, limit, now)) : [span]));
    }
    await clocks.updateOne(
      { _id: channel },
      { $set: { until: now, open: left } },
      { upsert: true },
    );
  }

  async function isDue(): Promise<boolean> {
    const clock = await read();
    return !clock || clock.open.length > 0 || minuteOf(clock.until) !== minuteOf(new Date());
  }

  return { isDue, begin };
}

/** Late is better than never: those of the day before are sent for as long as one that fails would be. */
function spansOf(zone: string, after: Date, now: Date): Span[] {
  const today = timesSince(zone, after, now);
  const since = new Date(Math.max(after.getTime(), now.getTime() - TRIED_MS));
  const day = calendarOf(zone)(since);
  const before = { day, from: timeOfDay(zone, since), to: MIDNIGHT };
  return [...(day === today.day ? [] : [before]), today].map((span) => ({ zone, ...span }));
}

/** The delivery of a reminder on a day: always the same one. */
function deliveryOf(
  { _id, userId, createdAt: since, channel }: Reminder,
  day: string,
  now: Date,
): Delivery {
  const about = { userId, since, type: DUE };
  return newDelivery({
    ...about,
    _id: eventId(_id, about, day),
    webhookId: laneFor(channel),
    destinationId: _id,
    revision: 0,
    createdAt: now,
    dropAt: new Date(now.getTime() + TRIED_MS),
    // Made when it is sent.
    body: JSON.stringify({ type: DUE }),
  });
}

/** Reminders are at whole minutes. */
function minuteOf(moment: Date): number {
  return Math.floor(moment.getTime() / 60_000);
}

function asList<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
