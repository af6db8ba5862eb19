import Joi from 'joi';

import type { DomainEvent } from '../../data/writing/transaction';
import type { Operation } from '../operation';
import { requiredScopes } from '../operation-facts';
import { camelName, faultOf, sentence, snakeName } from './schemas';

const apiPath = Joi.string().pattern(
  /^(\/(\.?[a-z][a-z.-]*|\{[a-z]+\}(\.[a-z]+)?))+$/,
  'a path such as /api/records/{id}',
);

/** Names and texts. The compiler checks the rest of an operation. */
const texts = Joi.object({
  path: apiPath,
  summary: sentence,
  description: sentence,
  operationId: camelName,
  access: Joi.object({ anyToken: sentence }).unknown(),
  audit: Joi.string().pattern(/^[a-z]+\.[a-z_]+$/, 'a name such as record.deleted'),
  notConditional: sentence,
  tool: Joi.object({ name: snakeName, description: sentence, none: sentence }).unknown(),
}).unknown();

/** What the operations of a plugin may use. */
export interface Known {
  scope: ReadonlySet<string>;
  budget: ReadonlySet<string>;
  errors: ReadonlySet<string>;
  domainEvents: ReadonlySet<DomainEvent<unknown>>;
}

/** The faults in an operation, each with its key. */
export function operationFaults(operation: Operation, known: Known): string[] {
  const fault = faultOf(texts, operation);
  if (fault !== undefined) return [fault];
  const faults: string[] = [];
  const { limit, path, audit, errors = [], params = {} } = operation;
  const requireDeclared = (key: string, kind: 'scope' | 'budget', value: string): void => {
    if (known[kind].has(value)) return;
    faults.push(`${key}: neither it nor a plugin that it requires declares the ${kind} ${value}`);
  };
  if (audit !== undefined && !path.includes('{id}')) {
    faults.push('audit: needs {id} in the path');
  }
  for (const scope of requiredScopes(operation)) requireDeclared('access', 'scope', scope);
  requireDeclared('limit', 'budget', limit);
  const inPath = [...path.matchAll(/\{([a-z]+)\}/g)].map((match) => match[1]);
  if (inPath.join() !== Object.keys(params).join()) {
    faults.push(`params: must list the parameters of the path: ${inPath.join(', ')}`);
  }
  for (const { code } of [...errors, ...Object.values(params)]) {
    if (!known.errors.has(code)) {
      faults.push(`errors: no plugin declares the error code ${code}`);
    }
  }
  return faults;
}
