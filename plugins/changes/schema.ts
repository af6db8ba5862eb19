import Joi from 'joi';

import { day, id, integer, oneOf } from '../../src/fields/joi';
import { named } from '../../src/fields/schema-name';
import { RECURRING_TYPES, type Snooze } from '../plants';

export interface ChangesQuery {
  since?: string;
  limit: number;
}

export const changesQuery = Joi.object<ChangesQuery, true>({
  since: Joi.string()
    .allow('')
    .description('nextCursor of an earlier answer, as it came; everything when left out'),
  limit: integer(1, 500).default(200).description('Records an answer, deletions included'),
});

/** Something that is not there any more. */
export interface Deleted {
  kind: string;
  id: string;
}

/** What changed, to be applied in this order. */
export interface Changes {
  plants: unknown[];
  events: unknown[];
  photos: unknown[];
  snoozes: Snooze[];
  deleted: Deleted[];
  nextCursor: string;
  hasMore: boolean;
}

/** @param views how records are shown */
export function changesSchema(views: Record<'plants' | 'events' | 'photos', Joi.Schema>) {
  const records = (view: Joi.Schema) => Joi.array().items(view).required();
  const schema = Joi.object<Changes, true>({
    plants: records(views.plants).description('Plants that are new or changed'),
    events: records(views.events).description('Events that are new, changed or restored'),
    photos: records(views.photos).description('Photos that are new or changed'),
    snoozes: records(
      Joi.object({
        plantId: id().required(),
        type: oneOf(RECURRING_TYPES).required(),
        until: day().required(),
      }),
    ).description(
      'Care of the plants in this answer that is snoozed: a plant in it without any has none any more',
    ),
    deleted: records(
      Joi.object({ kind: oneOf(['plant', 'event', 'photo']).required(), id: id().required() }),
    ).description('To be applied last. A deleted plant stands for its events too'),
    nextCursor: Joi.string().required().description('Opaque; what to send as since the next time'),
    hasMore: Joi.boolean().required().description('Whether there is more already'),
  });
  return named('Changes', schema);
}
