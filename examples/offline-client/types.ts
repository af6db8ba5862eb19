/** Keeps text. A save is atomic: after a crash the text is either old or new. */
export interface Store {
  load(): string | undefined;
  save(text: string): void;
}

export interface Tokens {
  access_token: string;
  /** A developer token has none. */
  refresh_token?: string;
  /** The app that signed in. */
  client_id?: string;
}

/** A record of the API; the OpenAPI document has its fields. */
export type Item = Record<string, unknown> & {
  id: string;
  updatedAt: string;
  plantId?: string | null;
};

export interface Plant extends Item {
  createdAt: string;
  archivedAt?: string;
  wateringFrequencyDays: number | null;
  fertilizerFrequencyDays: number | null;
}

/** The rule of a schedule, or of a frequency of a plant. */
export interface Rule {
  id?: string;
  care: string;
  label?: string | null;
  everyDays: number | null;
  weekdays?: string[] | null;
  monthDays?: number[] | null;
  months?: number[] | null;
  seasons?: { from: string; to: string; everyDays: number }[];
  /** A frequency has none. */
  startOn?: string;
  endOn?: string | null;
}

export interface Schedule extends Item, Rule {
  id: string;
  plantId: string;
  active: boolean;
}

export interface CareEvent extends Item {
  plantId: string;
  type: string;
  scheduleId?: string;
  occurredAt: string;
  occurredOn: string;
}

/** Care that was put off until a day, or skipped on one. */
export interface Snooze {
  plantId: string;
  type: string;
  scheduleId?: string;
  until: string | null;
  skippedOn?: string;
}

/** The records of an account, as of the cursor. */
export interface Copy {
  cursor?: string | undefined;
  plants: Record<string, Plant>;
  schedules: Record<string, Schedule>;
  events: Record<string, CareEvent>;
  photos: Record<string, Item>;
  snoozes: Snooze[];
}

/** Care and the first day on which it is due. */
export interface DueItem {
  plantId: string;
  /** null for a frequency of the plant. */
  scheduleId: string | null;
  care: string;
  label: string | null;
  /** `YYYY-MM-DD` */
  dueOn: string;
}

/** A response of `GET /api/changes`. */
export interface Changes {
  plants: Plant[];
  schedules: Schedule[];
  events: CareEvent[];
  photos: Item[];
  snoozes: Snooze[];
  deleted: { kind: 'plant' | 'schedule' | 'event' | 'photo'; id: string }[];
  nextCursor: string;
  hasMore: boolean;
}

/** A queued request. */
export interface Change {
  /** The Idempotency-Key of a POST and, until it is answered, the id of the record that it adds. */
  key: string;
  method: string;
  path: string;
  body?: Record<string, unknown> | undefined;
  /** The `updatedAt` of the record that the person saw, and the fields that they changed. */
  seen?: { updatedAt: string; fields: Record<string, unknown> } | undefined;
  /** When it was sent first, in milliseconds since 1970. */
  sentAt?: number;
}

/** Changes that were not made, for the person to see. */
export interface Problem {
  /** The refused change, and those that depend on it. */
  changes: Change[];
  code: string;
  error: string;
}

/** Everything that a device stores but its tokens. */
export interface State {
  account?: Account;
  copy: Copy;
  queue: Change[];
  problems: Problem[];
}

export interface Account {
  userId: string;
  timezone: string;
}

/** The body of any response: read only what the request returns. */
export type Reply = Record<string, unknown> &
  Item &
  Changes &
  Account & {
    /** Of several records. */
    items?: Partial<Item>[];
    /** Of an error. */
    code: string;
    error: string;
  };

export interface Answer {
  status: number;
  headers: Headers;
  body: Reply;
}
