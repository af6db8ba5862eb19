import { addDays, calendarOf } from '../../../src/core/time';
import { type Role, ROLES } from '../../members';
import { type Html, markup } from '../../pages';
import type { BrowserRequest } from '../pages/browser-request';
import type { Sentence } from '../pages/texts';
import { dates, disclosure, formOf, list } from './parts';

/** A member, sitter or invitation, as the operations show them. */
interface Member {
  id: string;
  name: string;
  role: Role;
  until: string | null;
  joinedAt: string | null;
  lastSeenAt: string | null;
  leftAt?: string;
  byLink?: true;
}

/** Who may open the person's garden, and which gardens of others they may open. */
export interface Sharing {
  timezone: string;
  members: readonly Member[];
  gardens: readonly { id: string; name: string; role: Role | 'owner'; until: string | null }[];
}

const FAULTS: readonly Sentence[] = ['badMember', 'noRoomInGardens'];

/** The parts of the settings about gardens that people share. */
export function sharingPart(
  request: BrowserRequest,
  { timezone, members, gardens }: Sharing,
  outcome: { fault?: Sentence; form?: URLSearchParams },
): Html {
  const { texts } = request;
  const refused = outcome.fault && FAULTS.includes(outcome.fault) ? outcome.form : undefined;
  const today = calendarOf(timezone)(new Date());
  const isOpen = (action: string) => refused?.get('action') === action;
  const fields = (action: string, isLink: boolean): Html =>
    memberFields(request, action, {
      isLink,
      role: isLink ? undefined : (isOpen(action) && refused?.get('role')) || 'carer',
      name: (isOpen(action) && refused?.get('name')) || '',
      until: (isOpen(action) && refused?.get('until')) || (isLink ? addDays(today, 7) : ''),
      today,
    });
  const others = gardens.filter(({ role }) => role !== 'owner');
  const date = dates(request, timezone);
  const left = others.map(({ id, name, role, until }) => ({
    id,
    title: name,
    details: [texts.roleNames[role as Role], until === null ? '' : untilText(request, until, date)],
  }));
  return markup`<h2>${texts.members}</h2>
    <p>${texts.membersAbout}</p>
    ${members.length === 0 && markup`<p>${texts.none}</p>`}
    <ul role="list">
      ${members.map((each) => memberEntry(request, each, { timezone, today, refused }))}
    </ul>
    ${disclosure(request, 'inviteMember', texts.invite, fields('inviteMember', false), {
      isOpen: isOpen('inviteMember'),
    })}
    ${disclosure(request, 'makeLink', texts.makeLink, fields('makeLink', true), {
      isOpen: isOpen('makeLink'),
    })}
    <h2>${texts.joinedGardens}</h2>
    ${list(request, 'leaveGarden', texts.leave, left)}`;
}

function memberEntry(
  request: BrowserRequest,
  member: Member,
  {
    timezone,
    today,
    refused,
  }: { timezone: string; today: string; refused?: URLSearchParams | undefined },
): Html {
  const { texts } = request;
  const { id, name, role, until, joinedAt, lastSeenAt, leftAt, byLink } = member;
  const date = dates(request, timezone);
  const seen =
    lastSeenAt === null ? texts.neverSeen : `${texts.lastSeen} ${date(new Date(lastSeenAt))}`;
  const details = [
    byLink ? texts.byLink : texts.roleNames[role],
    until === null ? '' : untilText(request, until, date),
    leftAt !== undefined
      ? `${texts.hasLeft} ${date(new Date(leftAt))}`
      : joinedAt === null && !byLink
        ? texts.notJoined
        : seen,
  ].filter((each) => each !== '');
  const day = until === null ? '' : lastDay(until, timezone);
  const fields = markup`<input type="hidden" name="id" value="${id}" />
    <input type="hidden" name="was" value="${day}" />
    ${memberFields(request, id, {
      isLink: byLink === true,
      role: byLink ? undefined : role,
      name,
      until: day,
      today,
    })}`;
  const isOpen = refused?.get('action') === 'changeMember' && refused.get('id') === id;
  const remove = markup`<input type="hidden" name="id" value="${id}" />
    <button aria-label="${texts.remove}: ${name}">${texts.remove}</button>`;
  return markup`<li class="member">
    <div class="entry">
      <div><strong>${name}</strong><br />${details.join(' · ')}</div>
      ${formOf(request, 'removeMember', remove)}
    </div>
    ${leftAt === undefined && disclosure(request, 'changeMember', texts.changeMember, fields, { isOpen })}
  </li>`;
}

interface Fields {
  isLink: boolean;
  /** Undefined for a sitter, who is always a carer. */
  role: string | undefined;
  name: string;
  until: string;
  today: string;
}

/** @param of what makes the ids of the fields unique */
function memberFields(
  { texts }: BrowserRequest,
  of: string,
  { isLink, role, name, until, today }: Fields,
): Html {
  const options = ROLES.map(
    (each) =>
      markup`<option value="${each}" ${each === role && markup`selected`}>${texts.roleNames[each]}: ${texts.roles[each]}</option>`,
  );
  const last = isLink ? addDays(today, 89) : addDays(today, 729);
  return markup`<label for="name-${of}">${texts.memberName}</label>
    <input id="name-${of}" name="name" value="${name}" required maxlength="60" autocomplete="off" />
    ${
      role !== undefined &&
      markup`<label for="role-${of}">${texts.memberRole}</label>
    <select id="role-${of}" name="role">
      ${options}
    </select>`
    }
    <label for="until-${of}">${isLink ? texts.linkUntil : texts.memberUntil}</label>
    <input id="until-${of}" name="until" type="date" value="${until}" min="${today}" max="${last}" ${isLink && markup`required`} />`;
}

function untilText({ texts }: BrowserRequest, until: string, date: (at: Date) => string): string {
  return `${texts.untilDay} ${date(new Date(Date.parse(until) - 1))}`;
}

/** The last day, in a time zone, of what ends at a moment. */
function lastDay(until: string, timezone: string): string {
  return calendarOf(timezone)(new Date(Date.parse(until) - 1));
}
