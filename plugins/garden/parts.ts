import { randomUUID } from 'node:crypto';

import { type Html, markup } from '../pages';
import type { PhotoView } from '../photos';
import type { Care, Event, PageContext } from './page-context';

type Photo = Pick<
  PhotoView,
  'secureUrl' | 'width' | 'height' | 'cropX' | 'cropY' | 'cropWidth' | 'cropHeight'
>;

/** A form of buttons whose names are `action`; sent twice, it is handled once. */
export function formOf(
  { request }: PageContext,
  fields: Readonly<Record<string, string | readonly string[]>>,
  content: Html,
): Html {
  const all = { ...fields, key: randomUUID() };
  const hidden = Object.entries(all).flatMap(([name, values]) =>
    [values].flat().map((value) => markup`<input type="hidden" name="${name}" value="${value}" />`),
  );
  return markup`<form method="post" action="${request.ctx.path}">
    ${request.csrfField()} ${hidden} ${content}
  </form>`;
}

/** @param about what a screen reader adds to the text of the button */
export function button(action: string, text: string, about = '', kind = ''): Html {
  return markup`<button name="action" value="${action}" class="${kind}"
    ${about !== '' && markup`aria-label="${text}: ${about}"`}>${text}</button>`;
}

export function plantLink({ base }: PageContext, id: string, name: string): Html {
  return markup`<a href="${base}/${id}">${name}</a>`;
}

/** A small square picture beside a name, or a leaf; a crop as it was chosen. */
export function thumbnail(photo: Photo | undefined): Html {
  return markup`<span class="thumb">${photo && isShown(photo) && picture(photo)}</span>`;
}

function picture({ secureUrl, cropX, cropY, cropWidth, cropHeight, ...size }: Photo): Html {
  const [width, height] = [String(size.width), String(size.height)];
  if (cropX == null || cropY == null || !cropWidth || !cropHeight) {
    return markup`<img src="${secureUrl}" alt="" loading="lazy" decoding="async" width="64" height="64" />`;
  }
  const crop = [cropX, cropY, cropWidth, cropHeight].join(' ');
  return markup`<svg viewBox="${crop}" aria-hidden="true" preserveAspectRatio="xMidYMid slice">
    <image href="${secureUrl}" width="${width}" height="${height}" />
  </svg>`;
}

/** The photo of a plant, in full. */
export function photoOf(
  { texts }: PageContext,
  name: string,
  photo: Photo | undefined,
): Html | false {
  if (!photo || !isShown(photo)) return false;
  return markup`<img class="photo" src="${photo.secureUrl}" alt="${texts.photoOf} ${name}"
    width="${String(photo.width)}" height="${String(photo.height)}" />`;
}

/** Browsers load images only by https here. */
function isShown({ secureUrl }: Photo): boolean {
  return /^https:/i.test(secureUrl);
}

/** What to do, such as to water. */
export function careName(
  { texts }: PageContext,
  { care, label }: Pick<Care, 'care' | 'label'>,
): string {
  return label ?? texts.cares[care];
}

/** The fields by which a form names care that is due. */
export function careFields({ plantId, scheduleId, type }: Care): Record<string, string> {
  return { plantId, ...(scheduleId === null ? { type } : { scheduleId }) };
}

/** Care of a plant, with what can be done about it. */
export function careEntry(context: PageContext, care: Care, at: number, about: Html): Html {
  const { texts } = context;
  const what = `${careName(context, care)} ${care.plantName}`;
  const isDue = care.daysOverdue >= 0;
  const buttons = markup`${button('done', texts.done, what, isDue ? 'main' : '')}
    ${isDue && context.may('snooze') && button('snooze', texts.tomorrow, what)}
    ${isDue && context.may('skip') && button('skip', texts.skip, what)}`;
  const fields = { ...careFields(care), dueOn: care.dueOn, at: `due.${at}` };
  return markup`<li class="care">
    <div>${about}</div>
    ${context.may('done') && formOf(context, fields, buttons)}
  </li>`;
}

/** When care is due, as seen from today. */
export function dueText(context: PageContext, { dueOn, daysOverdue }: Care): Html {
  const text = `${context.texts.isDue} ${context.fromToday(dueOn)}`;
  return daysOverdue > 0 ? markup`<span class="late">${text}</span>` : markup`${text}`;
}

/** An event that was logged, with Undo; among those of one plant its day, among others its plant. */
export function eventEntry(
  context: PageContext,
  event: Event,
  at: number,
  plantName?: string,
): Html {
  const { texts } = context;
  const { id, plantId, type, text, growthAmount, growthUnit, occurredAt, occurredOn, by } = event;
  const amount = growthAmount == null ? '' : `${context.number(growthAmount)} ${growthUnit ?? ''}`;
  const when = plantName === undefined ? `${context.day(occurredOn)}, ` : '';
  const details = [when + context.time(occurredAt), amount, text, by && context.texts.by(by.name)];
  const shown = details.filter((each) => each);
  const what = `${texts.types[type]} ${plantName ?? when}`.trim();
  return markup`<li class="entry">
    <div>
      <strong>${texts.types[type]}</strong> ${plantName !== undefined && plantLink(context, plantId, plantName)}<br />
      <small>${shown.join(' · ')}</small>
    </div>
    ${
      context.mayUndo(event) &&
      formOf(context, { eventId: id, at: `log.${at}` }, button('undo', texts.undo, what))
    }
  </li>`;
}
