import { setTimeout as sleep } from 'node:timers/promises';

import { ApiError, idempotencyConflict } from '../../src/core/errors';
import { permits } from '../../src/core/gardens';
import type { Account } from '../../src/core/identity';
import { calendarOf, dayNumber, timeOfDay } from '../../src/core/time';
import type { Page } from '../../src/fields/page';
import type { CallInput } from '../../src/plugins/protocol-endpoint';
import type { DueCare, ScheduleView } from '../care';
import type { Events, EventView } from '../events';
import type { InsightsView } from '../insights';
import type { Memberships } from '../members';
import type { BrowserRequest, Place } from '../oauth';
import { type Language, languageOf } from '../pages';
import type { PlantSummaryView, PlantView } from '../plants';
import { TEXTS, type Texts } from './texts';

/** A value as JSON has it: moments are text. */
type AsJson<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? AsJson<Item>[]
    : T extends object
      ? { [Key in keyof T]: AsJson<T[Key]> }
      : T;

export type Plant = AsJson<PlantView>;
export type Event = AsJson<EventView>;
export type Schedule = AsJson<ScheduleView>;
export type Care = AsJson<DueCare>['items'][number];
export type Growth = InsightsView['growthSeries'][number];

/** The operations that the pages call, with their responses. */
interface Operations {
  'GET /api/account': { remindAt: string | null };
  'GET /api/account/reminders/key': { publicKey: string };
  'GET /api/care': DueCare;
  'GET /api/events': Page<EventView>;
  'GET /api/insights': Pick<InsightsView, 'growthSeries'>;
  'GET /api/plant-summaries': PlantSummaryView[];
  'GET /api/plants': Page<PlantView>;
  'GET /api/plants/{id}': PlantView;
  'GET /api/plants/{id}/events': Page<EventView>;
  'GET /api/plants/{id}/schedules': ScheduleView[];
  'PATCH /api/account': unknown;
  'POST /api/account/reminders': unknown;
  'POST /api/care/done': { items: EventView[] };
  'POST /api/care/skip': unknown;
  'POST /api/care/snooze': unknown;
  'POST /api/events/delete': unknown;
  'POST /api/events/{id}/restore': EventView;
  'POST /api/plants': PlantView;
  'POST /api/plants/{id}/events': EventView;
}

/** The buttons of the pages. */
export type Action = 'done' | 'skip' | 'snooze' | 'unsnooze' | 'undo' | 'restore' | 'note' | 'add';

/** Those that sitters have. */
const OF_SITTERS: ReadonlySet<Action> = new Set<Action>(['done', 'skip', 'undo', 'restore']);

/** What the pages use of other plugins. */
export interface Plugins {
  events: Pick<Events, 'areBy'>;
  gardens: Pick<Memberships, 'list'>;
}

/** How often, and after how many ms, a form that is sent twice asks whether the first was handled. */
const SECOND_CLICK = { tries: 20, ms: 250 };

/** A request for a page: what somebody may do in the garden, and how they read days and numbers. */
export class PageContext {
  readonly language: Language;
  readonly texts: Texts;
  readonly now = new Date();
  /** The day in the time zone of the garden. */
  readonly today: string;
  /** The account whose garden it is. */
  readonly account: Account;
  /** The path of the garden, below which are its plants. */
  readonly base: string;
  /** The member as whom a sitter acts; undefined for everybody else. */
  readonly sitter: string | undefined;

  constructor(
    readonly request: BrowserRequest,
    readonly place: Place,
    readonly plugins: Plugins,
  ) {
    const { person, garden } = place;
    const { path, params } = request.ctx;
    const { id } = params as { id?: string };
    this.base = id === undefined ? path : path.slice(0, path.lastIndexOf('/'));
    this.account = garden?.account ?? accountOf(person);
    this.sitter = person ? undefined : garden?.by.id;
    this.language = languageOf(request.ctx);
    this.texts = TEXTS[this.language];
    this.today = calendarOf(this.account.timezone)(this.now);
  }

  /** What the garden is called. */
  get title(): string {
    const { account, texts } = this;
    return this.place.garden ? texts.gardenOf(account.gardenName ?? account.id) : texts.title;
  }

  /** Whether it is the garden of the visitor. */
  get isOwn(): boolean {
    return !this.place.garden;
  }

  /** Whether the visitor may send the form of a button. */
  may(action: Action): boolean {
    if (this.sitter !== undefined && !OF_SITTERS.has(action)) return false;
    const scope = action === 'add' ? 'plants:write' : 'events:write';
    return permits(this.place.garden, scope);
  }

  /** Whether an event may be taken back: a sitter takes back what they have logged. */
  mayUndo({ by }: Event): boolean {
    return this.may('undo') && (this.sitter === undefined || by?.id === this.sitter);
  }

  /**
   * Calls an operation for the person.
   *
   * @throws ApiError
   */
  async call<Name extends keyof Operations>(
    name: Name,
    input: Partial<CallInput> = {},
  ): Promise<AsJson<Operations[Name]>> {
    return (await this.request.call(name, input)) as AsJson<Operations[Name]>; // By its schema.
  }

  /**
   * Calls a write once for each form, however often it is sent: a second click waits for the first.
   *
   * @throws ApiError
   */
  async write<Name extends keyof Operations>(
    name: Name,
    input: Partial<CallInput> & { key: string },
  ): Promise<AsJson<Operations[Name]>> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.call(name, input);
      } catch (error) {
        const isRunning = error instanceof ApiError && error.kind === idempotencyConflict;
        if (!isRunning || tries === SECOND_CLICK.tries) throw error;
        await sleep(SECOND_CLICK.ms);
      }
    }
  }

  /** A parameter of the query, if it is given once. */
  parameter(name: string): string | undefined {
    const given = this.request.ctx.query[name];
    return typeof given === 'string' && given !== '' ? given : undefined;
  }

  /** A calendar day, with its year unless it is this one. */
  day(day: string): string {
    const year = day.slice(0, 4) === this.today.slice(0, 4) ? {} : ({ year: 'numeric' } as const);
    return this.date(day, { weekday: 'short', day: 'numeric', month: 'short', ...year });
  }

  /** Parts of a calendar day. */
  date(day: string, parts: Intl.DateTimeFormatOptions): string {
    return new Intl.DateTimeFormat(this.language, { ...parts, timeZone: 'UTC' }).format(
      new Date(`${day}T00:00:00Z`),
    );
  }

  /** The day as seen from today, such as yesterday or in 3 days. */
  fromToday(day: string): string {
    const days = dayNumber(day) - dayNumber(this.today);
    return new Intl.RelativeTimeFormat(this.language, { numeric: 'auto' }).format(days, 'day');
  }

  /** The time of day of a moment. */
  time(moment: string): string {
    return timeOfDay(this.account.timezone, new Date(moment));
  }

  number(value: number, options: Intl.NumberFormatOptions = {}): string {
    return new Intl.NumberFormat(this.language, { maximumFractionDigits: 2, ...options }).format(
      value,
    );
  }

  list(names: readonly string[]): string {
    return new Intl.ListFormat(this.language).format(names);
  }
}

function accountOf(person: Account | undefined): Account {
  if (!person) throw new Error('A page of a garden is of a person or of a sitter.');
  return person;
}
