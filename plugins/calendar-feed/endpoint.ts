import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';

import { Content, sendContent } from '../../src/core/http/content';
import { notFound } from '../../src/core/errors';
import { addDays, calendarOf } from '../../src/core/time';
import { checked, ValidationErrors } from '../../src/fields/validation';
import {
  getEndpoint,
  type ProtocolApi,
  type ProtocolEndpoint,
} from '../../src/plugins/protocol-endpoint';
import type { Care } from '../care';
import type { Calendars } from './calendars';
import { toICalendar } from './feed';
import { type CalendarQuery, calendarQuery } from './schema';

/** How many days ahead the calendar shows care. */
const DAYS = 90;
const TYPE = 'text/calendar';
/** The size of the cache of calendars, in bytes. */
const KEPT_BYTES = 8 * 1024 * 1024;

/** Serves calendars to programs that cannot send a token: the address is the secret. */
export function endpoint(calendars: Calendars, care: Care): ProtocolEndpoint {
  const kept = new LRUCache<string, Content>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ body }, key) => body.length + key.length,
  });

  async function read(ctx: Context & { params?: { secret?: string } }, api: ProtocolApi) {
    await api.refuseSpent(ctx);
    const account = await calendars.accountOf(ctx.params?.secret ?? '');
    if (!account) {
      await api.recordFailure(ctx);
      throw notFound.error('Calendar not found; its address may have been replaced.');
    }
    const query = queryOf(ctx);
    const { id, createdAt, revision, timezone } = account;
    const now = new Date();
    const today = calendarOf(timezone)(now);
    // Only a write, which moves the revision, or another day changes what is due.
    const key = JSON.stringify([id, createdAt, revision, today, query]);
    let content = kept.get(key);
    if (!content) {
      const wanted = { to: addDays(today, DAYS), ...query };
      const { items } = await care.due(account, { userId: id }, wanted, now);
      content = new Content(await toICalendar(items, today, account), TYPE);
      kept.set(key, content);
    }
    ctx.set('Cache-Control', 'private, no-cache');
    await sendContent(ctx, content);
  }

  return getEndpoint('/calendar/{secret}.ics', {
    summary: 'Read the calendar of due care',
    description: `RFC 5545: an all-day event for each occurrence in the next ${DAYS} days; overdue care is shown today. \`care\` and \`location\` narrow it. \`POST /api/account/calendar\` creates the address. Clients that try too many unknown addresses are refused for a while.`,
    operationId: 'readCalendar',
    access: { public: 'calendar programs send no token: the address is the secret' },
    responses: {
      200: { description: 'The calendar', content: { [TYPE]: { type: 'string' } } },
      304: { description: 'Not modified' },
    },
    errors: [notFound],
    countsFailures: true,
    handler: read,
  });
}

/** Ignores unknown parameters, since some programs add their own. @throws ApiError validation_error */
function queryOf(ctx: Context): CalendarQuery {
  const errors = new ValidationErrors();
  const { care, location } = ctx.query;
  const given = {
    ...(care !== undefined && { care }),
    ...(location !== undefined && { location }),
  };
  const query = checked(calendarQuery, given, errors);
  errors.throwIfAny();
  return query as CalendarQuery; // Its schema has just validated it.
}
