import type { Outcome } from '../../deliveries';
import type { ChannelName, Reminder } from '../model';

/** What a person is told. */
export interface Message {
  /** Of the delivery. */
  id: string;
  title: string;
  text: string;
  language: string;
  /** The page to open. */
  link: string;
  /** The same for programs: the body of an event, in JSON. */
  event: string;
}

export interface Result extends Outcome {
  /** Whether nobody is there any more, so that the reminder is switched off. */
  isGone?: boolean;
  /** Whether this message is refused for good. */
  isRefused?: boolean;
}

/** A way to reach a person. */
export interface Means {
  readonly channel: ChannelName;
  /** How many are sent at once. */
  readonly concurrency: number;
  /** Makes one attempt. It does not throw for what the receiver does. */
  send(reminder: Reminder, message: Message): Promise<Result>;
  /** Ends attempts in progress; those of the `Poster` end by themselves. */
  abort?: () => void;
}

/** How many are posted at once: most of them wait for other servers. */
export const POSTED_AT_ONCE = 64;

export const GONE = 410;
