import Joi from 'joi';

import { PortSetting } from '../../core/settings/settings';
import type { Operation } from '../operation';
import { operationName } from '../operation-facts';
import type { Plugin } from '../plugin';
import {
  camelName,
  errorCode,
  faultOf,
  feature,
  name,
  reasonFor,
  sentence,
  snakeName,
} from './schemas';

const apiPath = Joi.string().pattern(
  /^(\/(\.?[a-z][a-z.-]*|\{[a-z]+\}(\.[a-z]+)?))+$/,
  'a path such as /api/records/{id}',
);

const protocolMethod = Joi.object({
  summary: sentence.required(),
  description: sentence,
  operationId: camelName,
  access: Joi.alternatives(reasonFor('anyToken'), reasonFor('public')).required(),
  body: Joi.object(),
  responses: Joi.object(),
  errors: Joi.array().items(errorCode),
  tokenErrorBody: Joi.object(),
  isProbe: Joi.boolean(),
  handler: Joi.function().required(),
});

/** A list of contributions with names. The compiler checks the rest. */
function named(schema: Joi.Schema): Joi.ArraySchema {
  return Joi.array().items(Joi.object({ name: schema.required() }).unknown());
}

const contributionSchema = Joi.object({
  exports: Joi.any(),
  operations: Joi.function(),
  protocols: Joi.array().items(
    Joi.object({
      path: apiPath.allow('/').required(),
      withSlash: Joi.boolean(),
      anyOrigin: Joi.boolean(),
      methods: Joi.object({ GET: protocolMethod, POST: protocolMethod }).min(1).required(),
      prepare: Joi.function(),
      ownPort: Joi.object().instance(PortSetting),
    }),
  ),
  listeners: Joi.array(),
  changes: named(camelName),
  derived: named(sentence),
  dataChecks: named(sentence),
  jobs: named(sentence),
  readings: named(snakeName),
  seeds: named(name),
  identity: Joi.object().unknown(),
  onFirstStart: Joi.function(),
}).required();

const operationSchema = Joi.object({
  method: Joi.valid('GET', 'POST', 'PUT', 'PATCH', 'DELETE').required(),
  path: apiPath.required(),
  summary: sentence.required(),
  description: sentence,
  operationId: camelName,
  access: Joi.alternatives(
    Joi.object({ scope: Joi.string().required(), and: Joi.string() }),
    reasonFor('anyToken'),
    reasonFor('public'),
  ).required(),
  limit: Joi.alternatives(Joi.string(), reasonFor('none')).required(),
  feature,
  params: Joi.object().pattern(/./, errorCode),
  account: Joi.string(),
  ownPort: Joi.object().instance(PortSetting),
  query: Joi.object().schema(),
  body: Joi.object().schema(),
  large: Joi.object().unknown(),
  response: Joi.object({
    status: Joi.valid(200, 201).required(),
    schema: Joi.object().schema().required(),
    description: sentence.required(),
  })
    .unknown()
    .required(),
  errors: Joi.array().items(errorCode),
  audit: Joi.string().pattern(/^[a-z]+\.[a-z_]+$/, 'a name such as record.deleted'),
  readsAll: Joi.string(),
  secret: Joi.string(),
  idempotent: Joi.boolean(),
  cacheable: Joi.boolean(),
  isProbe: Joi.boolean(),
  notConditional: sentence,
  state: Joi.function(),
  tool: Joi.alternatives(
    Joi.object({ name: snakeName.required(), description: sentence.required() }).unknown(),
    reasonFor('none'),
  ).required(),
  handler: Joi.function().required(),
}).required();

/** The fault in what a plugin contributes, if any. */
export function contributionFault(plugin: Plugin, contribution: unknown): string | undefined {
  const fault = faultOf(contributionSchema, contribution);
  return fault === undefined ? undefined : `plugins/${plugin.name}: setup: ${fault}`;
}

/** The fault in an operation, if any. */
export function operationFault(plugin: Plugin, operation: Partial<Operation>): string | undefined {
  const fault = faultOf(operationSchema, operation);
  if (fault === undefined) return undefined;
  const label = operationName({ method: '?', path: '?', ...operation });
  return `plugins/${plugin.name}: ${label}: ${fault}`;
}
