import type { Context } from 'koa';

import { isAccountGone } from '../../core/identity';
import type { Operation } from '../../plugins/operation';
import { callerOf } from '../state';

/** The account that an operation writes to: that of its path, or else the caller's. */
export function targetAccount({ account }: Operation, ctx: Context): string {
  const named = account === undefined ? undefined : ctx.state.input.params[account];
  return named ?? callerOf(ctx).account.id;
}

/** Turns the error for a missing account in the path into the operation's own. */
export function missingTarget({ account, params }: Operation, error: unknown): unknown {
  const missing = account === undefined ? undefined : params?.[account];
  return missing !== undefined && isAccountGone(error) ? missing.error() : error;
}
