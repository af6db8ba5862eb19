import type { Context } from 'koa';
import type { Logger } from 'pino';

import type { ApiError } from '../core/errors';
import type { Principal } from '../core/identity';
import type { CallResult } from '../plugins/transport';

/** What is known of a request while it is answered, for its log line and the metrics. */
export interface RequestFacts {
  /** Writes lines that carry the request's ids. */
  readonly log: Logger;
  /** Fulfilled when the response was sent or the client is gone. */
  readonly sent: Promise<unknown>;
  /** The address of the client as it may be logged (see `loggedAddress`). */
  readonly client: string | undefined;
  /** Name of the operation; undefined where no route took the request. */
  operation?: string;
  /** Whether it is sent by operators' own programs again and again, and not worth a line. */
  isProbe?: boolean;
  /** Who calls, once the token is known to be good. */
  principal?: Principal;
  /** Name of the tool that was called. */
  tool?: string;
  /** Code of the error that was answered. */
  code?: string;
  /** Why, where the service itself failed or operators need to know. */
  reason?: string;
}

export function setFacts(ctx: Context, facts: RequestFacts): void {
  ctx.state['facts'] = facts;
}

/** The facts of a request, which are there from the first middleware on. */
export function factsOf(ctx: Context): RequestFacts {
  return ctx.state['facts'] as RequestFacts; // Nobody else writes there.
}

/** Notes the error that a request, or a call of a tool in it, is answered with. */
export function recordError(facts: RequestFacts, error: ApiError): void {
  const { body, logged, message, status } = error;
  facts.code = body.code;
  // What callers did wrong is theirs, and may quote what they sent.
  const reason = status >= 500 ? message : logged;
  if (reason !== undefined) facts.reason = reason;
}

/** Notes the error that a stored response holds, if it is one. */
export function recordOutcome(facts: RequestFacts, outcome: CallResult): void {
  if (!('json' in outcome) || outcome.status < 400) return;
  const { code } = JSON.parse(outcome.json) as ApiError['body']; // Stored in the Error shape.
  facts.code = code;
}
