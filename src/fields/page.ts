import Joi from 'joi';

import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, TOOL_PAGE_SIZE } from '../core/http/request-limits';
import { descriptionOf } from './description';
import { integer, nullable, named, nameOf } from './joi';

/** The query of a paged list. */
export interface PageQuery {
  limit: number;
  cursor?: string;
}

/** @param items the name of the items, in the plural */
export function pageQuery(
  items: string,
  defaultLimit = DEFAULT_PAGE_SIZE,
): Joi.StrictSchemaMap<PageQuery> {
  return {
    limit: integer(1, MAX_PAGE_SIZE).default(defaultLimit).description(`${items} a page`),
    cursor: Joi.string()
      .allow('')
      .description('nextCursor of the previous page; valid for the same list only'),
  };
}

/** The page that a tool shows of a list which has no pages over REST. */
export const toolPageQuery = Joi.object<PageQuery, true>(pageQuery('Items', TOOL_PAGE_SIZE));

export interface Page<View> {
  items: View[];
  hasMore: boolean;
  nextCursor: string | null;
}

/** A page of a list (docs/specification.md, 2.10), named after its items. */
export function page<View>(item: Joi.Schema): Joi.ObjectSchema<Page<View>> {
  const schema = Joi.object<Page<View>>({
    items: Joi.array().items(item).required(),
    hasMore: Joi.boolean().required(),
    nextCursor: nullable(Joi.string()).required().description('Opaque; null on the last page'),
  });
  const name = nameOf(descriptionOf(item));
  return name === undefined ? schema : named(`${name}Page`, schema);
}
