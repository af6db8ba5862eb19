import { ApiError, insufficientScope, notFound } from '../../src/core/errors';
import { isUuid, toStoredId } from '../../src/core/ids';
import { addDays } from '../../src/core/time';
import { PREFERENCES } from '../accounts';
import { DEVICE } from './device';
import type { Action, PageContext } from './page-context';

/** A form that was sent. */
interface Sent {
  context: PageContext;
  form: URLSearchParams;
  key: string;
}

/** What a form did, as parameters of the page that follows: `News` reads them. */
type Done = Readonly<Partial<Record<'did' | 'undone' | 'put', string>>>;

/** The forms of the pages, by the names of their buttons. */
const ACTIONS: Readonly<Record<Exclude<Action, 'add'>, (sent: Sent) => Promise<Done>>> = {
  done: async ({ context, form, key }) => {
    const { items } = await context.write('POST /api/care/done', { body: careIn(form), key });
    return { did: items.map(({ id }) => id).join('.') };
  },
  skip: async ({ context, form, key }) => {
    await context.write('POST /api/care/skip', { body: careIn(form), key });
    return putIn(form);
  },
  snooze: async ({ context, form, key }) => {
    const body = { ...careIn(form), until: addDays(context.today, 1) };
    await context.write('POST /api/care/snooze', { body, key });
    return putIn(form);
  },
  unsnooze: async ({ context, form, key }) => {
    const body = { ...careIn(form), until: null };
    await context.write('POST /api/care/snooze', { body, key });
    return {};
  },
  undo: async ({ context, form, key }) => {
    const eventIds = form.getAll('eventId');
    await requireOwn(context, eventIds);
    await context.write('POST /api/events/delete', { body: { eventIds }, key });
    return { undone: eventIds.join('.') };
  },
  restore: async ({ context, form, key }) => {
    const params = { id: form.get('eventId') ?? '' };
    await requireOwn(context, [params.id]);
    const { id } = await context.write('POST /api/events/{id}/restore', { params, key });
    return { did: id };
  },
  note: async ({ context, form, key }) => {
    const params = { id: form.get('plantId') ?? '' };
    const body = { type: 'note', text: form.get('text') ?? '' };
    const { id } = await context.write('POST /api/plants/{id}/events', { params, body, key });
    return { did: id };
  },
};

/**
 * Does what a form asks for, and returns the address of the page that shows it.
 *
 * @throws ApiError
 */
export async function submit(context: PageContext, form: URLSearchParams): Promise<string> {
  const key = form.get('key') ?? '';
  const name = form.get('action') ?? '';
  if (name === 'add') {
    requireMay(context, name);
    return `${context.base}/${await addPlant({ context, form, key })}`;
  }
  if (name === 'remind') {
    await remind({ context, form, key });
    return `${context.base}#${DEVICE}`;
  }
  let done: Done = {};
  if (isAction(name)) {
    requireMay(context, name);
    done = await ACTIONS[name]({ context, form, key });
  }
  const at = form.get('at');
  const query = new URLSearchParams({ ...done, ...(at !== null && { at }) });
  return `${context.request.ctx.path}?${query.toString()}#news`;
}

function isAction(name: string): name is keyof typeof ACTIONS {
  return Object.hasOwn(ACTIONS, name);
}

/** @throws ApiError insufficient_scope */
function requireMay(context: PageContext, action: Action): void {
  if (!context.may(action)) throw insufficientScope.error();
}

/** Requires that a sitter has logged the events. @throws ApiError not_found */
async function requireOwn({ sitter, account, plugins }: PageContext, ids: string[]): Promise<void> {
  if (sitter === undefined) return;
  const valid = ids.filter(isUuid).map(toStoredId);
  const isOwn =
    valid.length === ids.length &&
    (await plugins.events.areBy({ userId: account.id }, valid, sitter));
  if (!isOwn) throw notFound.error();
}

/** Adds a plant; returns its id. */
async function addPlant({ context, form, key }: Sent): Promise<string> {
  const [location, days] = [form.get('location')?.trim(), form.get('everyDays')?.trim()];
  const body = {
    name: form.get('name')?.trim(),
    ...(location && { location }),
    ...(days && { wateringFrequencyDays: Number(days) }),
  };
  const { id } = await context.write('POST /api/plants', { body, key });
  return id;
}

/** Sets a reminder on the browser of a subscription. @throws ApiError */
async function remind({ context, form, key }: Sent): Promise<void> {
  if (!context.isOwn) throw insufficientScope.error();
  const body = { channel: 'push', subscription: jsonIn(form.get('subscription') ?? '') };
  await context.write('POST /api/account/reminders', { body, key });
  const { remindAt } = await context.call('GET /api/account');
  // The person switched reminders off before, and wants them again.
  if (remindAt === null)
    await context.call('PATCH /api/account', { body: { remindAt: PREFERENCES.remindAt } });
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The operation refuses it.
    return undefined;
  }
}

/** The care that a form names. */
function careIn(form: URLSearchParams): object {
  const plantIds = form.getAll('plantId');
  const [plantId] = plantIds;
  const scheduleId = form.get('scheduleId');
  const dueOn = form.get('dueOn');
  return {
    ...(plantIds.length === 1 ? { plantId } : { plantIds }),
    ...(scheduleId === null ? { type: form.get('type') } : { scheduleId }),
    // The occurrence that was meant: on another phone it may be done already.
    ...(dueOn !== null && { dueOn }),
  };
}

function putIn(form: URLSearchParams): Done {
  return { put: `${form.get('plantId')}.${form.get('scheduleId') ?? form.get('type')}` };
}

/** Why an operation refused, in a sentence for the person. */
export function sentenceOf({ texts }: PageContext, { kind, status }: ApiError): string {
  if (status >= 500) return texts.unavailable;
  if (status === 429) return texts.tooFast;
  if (kind.code === 'insufficient_scope') return texts.notAllowed;
  if (status === 403) return texts.noRoom;
  if (['idempotency_mismatch', 'idempotency_conflict'].includes(kind.code)) return texts.already;
  const isGone = status === 404 || /_not_found$|^plant_archived$/.test(kind.code);
  return isGone ? texts.gone : texts.changed;
}
