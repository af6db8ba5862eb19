import { ApiError } from '../../../src/core/errors';
import { addDays, startOfDay } from '../../../src/core/time';
import { isRecord } from '../../../src/core/values';
import { ACCOUNT_SCOPE } from '../../accounts';
import { memberLimitReached } from '../../members';
import { type Html, markup } from '../../pages';
import type { BrowserRequest } from '../pages/browser-request';
import { actAs, principalOf, type SignedIn } from '../pages/signed-in';
import { PageFault } from '../pages/texts';
import type { Sharing } from './sharing';

/** A form of this part, and who sent it. */
export interface SentSharing {
  request: BrowserRequest;
  person: SignedIn;
  form: URLSearchParams;
}

/** What a form did: words for the person, or a secret that is shown once. */
interface Shared {
  done?: 'memberChanged' | 'memberRemoved' | 'gardenLeft';
  notice?: Html;
}

/** Reads what the part shows. @throws ApiError */
export async function sharingOf(request: BrowserRequest, person: SignedIn): Promise<Sharing> {
  const [members, gardens] = await Promise.all([
    call(request, person, 'GET /api/account/members'),
    call(request, person, 'GET /api/gardens'),
  ]);
  const { timezone } = person.account;
  // By the schemas of the operations.
  return { timezone, members: members['items'], gardens: gardens['items'] } as Sharing;
}

/** The forms of this part. */
export const SHARING = {
  inviteMember: async ({ request, person, form }: SentSharing): Promise<Shared> => {
    const body = { ...fieldsOf(person, form), role: form.get('role') };
    const { invitation } = await change(request, person, 'POST /api/account/members', { body });
    return { notice: shownOnce(request.texts.newInvitation, invitation) };
  },
  makeLink: async ({ request, person, form }: SentSharing): Promise<Shared> => {
    const body = { ...fieldsOf(person, form), role: 'carer', link: true };
    const { link } = await change(request, person, 'POST /api/account/members', { body });
    return { notice: shownOnce(request.texts.newLink, link) };
  },
  changeMember: async ({ request, person, form }: SentSharing): Promise<Shared> => {
    const { until, ...fields } = fieldsOf(person, form);
    const role = form.get('role');
    // A day that was not touched does not move the moment.
    const isMoved = form.get('until') !== form.get('was');
    const body = { ...fields, ...(role !== null && { role }), ...(isMoved && { until }) };
    await change(request, person, 'PATCH /api/account/members/{id}', { params: idIn(form), body });
    return { done: 'memberChanged' };
  },
  removeMember: async ({ request, person, form }: SentSharing): Promise<Shared> => {
    await change(request, person, 'DELETE /api/account/members/{id}', { params: idIn(form) });
    return { done: 'memberRemoved' };
  },
  leaveGarden: async ({ request, person, form }: SentSharing): Promise<Shared> => {
    await change(request, person, 'DELETE /api/gardens/{id}', { params: idIn(form) });
    return { done: 'gardenLeft' };
  },
};

function idIn(form: URLSearchParams): { id: string } {
  return { id: form.get('id') ?? '' };
}

/** The name, and the end of the day until which it is, in the person's time zone. @throws PageFault */
function fieldsOf({ account }: SignedIn, form: URLSearchParams) {
  const day = form.get('until') ?? '';
  if (!/^(\d{4}-\d\d-\d\d)?$/.test(day)) throw new PageFault('badMember');
  let until: Date | null = null;
  try {
    if (day !== '') until = startOfDay(addDays(day, 1), account.timezone);
  } catch {
    // There is no such day.
    throw new PageFault('badMember');
  }
  return { name: (form.get('name') ?? '').trim(), until: until && until.toISOString() };
}

async function call(
  request: BrowserRequest,
  person: SignedIn,
  name: string,
  input: Parameters<BrowserRequest['call']>[1] = {},
): Promise<Record<string, unknown>> {
  let result: unknown;
  const principal = principalOf(request, person, [ACCOUNT_SCOPE]);
  await actAs(request, { principal }, async () => {
    result = await request.call(name, input);
  });
  return isRecord(result) ? result : {};
}

/** Calls a write. @throws PageFault */
async function change(...of: Parameters<typeof call>): Promise<Record<string, unknown>> {
  try {
    return await call(...of);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.kind === memberLimitReached) throw new PageFault('noRoomInGardens', error.status);
    if (error.status === 404) throw new PageFault('gone');
    if (error.status === 400) throw new PageFault('badMember');
    throw error;
  }
}

function shownOnce(words: string, made: unknown): Html {
  const url = isRecord(made) ? String(made['url']) : '';
  const code = isRecord(made) ? made['code'] : undefined;
  return markup`<p class="done" role="status">
    ${words} <code tabindex="0" autofocus>${url}</code>
    ${typeof code === 'string' && markup`<code>${code}</code>`}
  </p>`;
}
