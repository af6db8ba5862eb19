import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';

import { Content } from '../../src/core/http/content';
import { notFound } from '../../src/core/errors';
import { addDays, calendarOf as daysOf } from '../../src/core/time';
import { checked } from '../../src/fields/checked';
import { ValidationErrors } from '../../src/fields/validation-errors';
import type { ProtocolApi, ProtocolEndpoint } from '../../src/plugins/protocol-endpoint';
import { sendContent } from '../../src/plugins/send-content';
import type { Accounts } from '../accounts';
import type { Care } from '../care';
import type { Calendars } from './calendars';
import { calendarOf } from './feed';
import { type CalendarQuery, calendarQuery } from './schema';

/** How far ahead care is in the calendar. */
const DAYS = 90;
const TYPE = 'text/calendar';
/** How much memory calendars take that programs ask for again and again, in bytes. */
const KEPT_BYTES = 8 * 1024 * 1024;

/** The calendar of an account, for programs that cannot send a token: its address is the secret. */
export function endpoint(calendars: Calendars, accounts: Accounts, care: Care): ProtocolEndpoint {
  const kept = new LRUCache<string, Content>({
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ body }, key) => body.length + key.length,
  });

  async function read(ctx: Context & { params?: { secret?: string } }, api: ProtocolApi) {
    await api.refuseSpent(ctx);
    const userId = await calendars.ownerOf(ctx.params?.secret ?? '');
    const account = userId === undefined ? undefined : await accounts.account(userId);
    if (!account) {
      await api.recordFailure(ctx);
      throw notFound.error('There is no such calendar; it may have been replaced.');
    }
    const query = queryOf(ctx);
    const { id, createdAt, revision, timezone } = account;
    const now = new Date();
    const today = daysOf(timezone)(now);
    // A write moves the revision, and nothing else but the day changes what is due.
    const key = JSON.stringify([id, createdAt, revision, today, query]);
    let content = kept.get(key);
    if (!content) {
      const { care: wanted, ...place } = query;
      const span = { to: addDays(today, DAYS), ...place };
      const { items } = await care.due(account, { userId: id }, span, now);
      const some = items.filter((item) => wanted === undefined || item.care === wanted);
      content = new Content(await calendarOf(some, today));
      kept.set(key, content);
    }
    ctx.set('Cache-Control', 'private, no-cache');
    await sendContent(ctx, content, TYPE);
  }

  return {
    path: '/calendar/{secret}.ics',
    methods: {
      GET: {
        summary: 'Read the calendar of due care',
        description: `RFC 5545: an all-day event for each time in the next ${DAYS} days, overdue ones today. \`care\` and \`location\` narrow it. The address comes from \`POST /api/account/calendar\`; programs that keep trying others are refused for a while.`,
        operationId: 'readCalendar',
        access: { public: 'calendar programs send no token: who has the address may read' },
        responses: {
          200: { description: 'The calendar', content: { [TYPE]: { type: 'string' } } },
          304: { description: 'The client has this answer' },
        },
        errors: [notFound],
        handler: read,
      },
    },
  };
}

/** @throws ApiError validation_error; parameters that nobody knows are left out: some programs add their own */
function queryOf(ctx: Context): CalendarQuery {
  const errors = new ValidationErrors();
  const { care, location } = ctx.query;
  const given = {
    ...(care !== undefined && { care }),
    ...(location !== undefined && { location }),
  };
  const query = checked(calendarQuery, given, errors);
  errors.throwIfAny();
  return query as CalendarQuery; // Its schema has just let it through.
}
