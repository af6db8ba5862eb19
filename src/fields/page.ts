import Joi from 'joi';

import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../core/http/request-limits';
import { descriptionOf } from './description';
import { integer, nullable } from './joi';
import { named, nameOf } from './schema-name';

/** Which page of a list is asked for. */
export interface PageQuery {
  limit: number;
  cursor?: string;
}

/** @param items what the list has, in the plural */
export function pageQuery(items: string): Joi.StrictSchemaMap<PageQuery> {
  return {
    limit: integer(1, MAX_PAGE_SIZE).default(DEFAULT_PAGE_SIZE).description(`${items} a page`),
    cursor: Joi.string()
      .allow('')
      .description('nextCursor of the page before; good for the same list only'),
  };
}

export interface Page<View> {
  items: View[];
  hasMore: boolean;
  nextCursor: string | null;
}

/** A page of a list (docs/specification.md, 2.10); its name follows from that of its items. */
export function page<View>(item: Joi.Schema): Joi.ObjectSchema<Page<View>> {
  const schema = Joi.object<Page<View>>({
    items: Joi.array().items(item).required(),
    hasMore: Joi.boolean().required(),
    nextCursor: nullable(Joi.string())
      .required()
      .description('Opaque; null where there are no more'),
  });
  const name = nameOf(descriptionOf(item));
  return name === undefined ? schema : named(`${name}Page`, schema);
}
