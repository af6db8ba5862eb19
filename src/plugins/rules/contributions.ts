import Joi from 'joi';

import { hostErrors } from '../../core/errors';
import { HOST_BUDGETS } from '../../core/host-settings';
import { TIERS } from '../../core/identity';
import { Setting } from '../../core/settings';
import { DomainEvent } from '../../data/domain-event';
import type { Plugin, SetUpPlugin } from '../plugin';
import { type Operation, operationName } from '../operation';
import {
  camelName,
  errorCode,
  faultOf,
  name,
  reasonFor,
  sentence,
  snakeName,
  uniqueness,
} from './schemas';

const apiPath = Joi.string().pattern(
  /^(\/([a-z][a-z.-]*|\{[a-z]+\}))+$/,
  'a path such as /api/records/{id}',
);

const transportMethod = Joi.object({
  summary: sentence.required(),
  description: sentence,
  operationId: camelName,
  access: Joi.alternatives(reasonFor('anyToken'), reasonFor('public')).required(),
  body: Joi.object(),
  responses: Joi.object().pattern(
    /^[2-5]\d\d$/,
    Joi.object({ description: sentence.required(), content: Joi.object() }),
  ),
  errors: Joi.array().items(errorCode),
  isProbe: Joi.boolean(),
  handler: Joi.function().required(),
});
const transportMethods = Joi.object({ GET: transportMethod, POST: transportMethod }).min(1);

const contributionSchema = Joi.object({
  exports: Joi.any(),
  operations: Joi.function(),
  transports: Joi.array().items(
    Joi.object({
      path: apiPath.required(),
      methods: transportMethods.required(),
      ownPort: Joi.object().instance(Setting),
    }),
  ),
  listeners: Joi.array().items(
    Joi.object({
      event: Joi.object().instance(DomainEvent).required(),
      handle: Joi.function().required(),
      isCollected: Joi.boolean(),
    }),
  ),
  counts: Joi.object().pattern(/./, Joi.function()),
  derived: Joi.array().items(
    Joi.object({ name: sentence.required(), rebuild: Joi.function().required() }).unknown(),
  ),
  jobs: Joi.array().items(
    Joi.object({
      name: sentence.required(),
      everySeconds: Joi.number().positive().required(),
      run: Joi.function().required(),
    }),
  ),
  readings: Joi.array().items(
    Joi.object({
      name: snakeName.required(),
      help: sentence.required(),
      label: snakeName,
      read: Joi.function().required(),
    }),
  ),
  seeds: Joi.array().items(
    Joi.object({
      name: name.required(),
      schema: Joi.object().schema().required(),
      preflight: Joi.function(),
      load: Joi.function().required(),
    }),
  ),
  identity: Joi.object().unknown(),
  welcome: Joi.function(),
}).required();

const operationSchema = Joi.object({
  method: Joi.valid('GET', 'POST', 'PATCH', 'DELETE').required(),
  path: apiPath.required(),
  summary: sentence.required(),
  operationId: camelName,
  access: Joi.alternatives(
    Joi.object({ scope: Joi.string().required() }),
    reasonFor('anyToken'),
    reasonFor('public'),
  ).required(),
  limit: Joi.alternatives(Joi.string(), reasonFor('none')).required(),
  feature: Joi.object({
    name: sentence.required(),
    tiers: Joi.array()
      .items(Joi.valid(...TIERS))
      .min(1)
      .required(),
    remedy: sentence,
  }),
  params: Joi.object().pattern(/./, errorCode),
  query: Joi.object().schema(),
  body: Joi.object().schema(),
  response: Joi.object({
    status: Joi.valid(200, 201).required(),
    schema: Joi.object().schema().required(),
    description: sentence.required(),
    type: Joi.string(),
  }).required(),
  errors: Joi.array().items(errorCode),
  audit: Joi.string().pattern(/^[a-z]+\.[a-z_]+$/, 'a name such as record.deleted'),
  quota: Joi.string(),
  idempotent: Joi.boolean(),
  cacheable: Joi.boolean(),
  isProbe: Joi.boolean(),
  notConditional: sentence,
  state: Joi.function(),
  tool: Joi.alternatives(
    Joi.object({
      name: snakeName.required(),
      description: sentence.required(),
      tooLarge: sentence,
      defaults: Joi.object().pattern(Joi.string(), Joi.string()),
    }),
    reasonFor('none'),
  ).required(),
  handler: Joi.function().required(),
}).required();

/** What is wrong with what a plugin contributes, by itself. */
export function contributionFault(plugin: Plugin, contribution: unknown): string | undefined {
  const fault = faultOf(contributionSchema, contribution);
  return fault === undefined ? undefined : `plugins/${plugin.name}: setup: ${fault}`;
}

/** What is wrong with an operation by itself. */
export function operationFault(plugin: Plugin, operation: Partial<Operation>): string | undefined {
  const fault = faultOf(operationSchema, operation);
  if (fault === undefined) return undefined;
  const label = operationName({ method: '?', path: '?', ...operation });
  return `plugins/${plugin.name}: ${label}: ${fault}`;
}

/** What is wrong between contributions, and between them and the manifests. */
export function contributionFaults(all: readonly SetUpPlugin[]): string[] {
  const faults: string[] = [];
  const unique = uniqueness(faults);
  for (const { plugin, contribution, operations } of all) {
    const known = declaredFor(
      plugin,
      all.map((each) => each.plugin),
    );
    for (const operation of operations) {
      const place = `plugins/${plugin.name}: ${operationName(operation)}`;
      const shape = operation.path.replace(/\{[a-z]+\}/g, '{}');
      unique(place, 'operation', `${operation.method} ${shape}`);
      if ('name' in operation.tool) unique(place, 'tool', operation.tool.name);
      faults.push(...faultsBetween(place, operation, known));
    }
    for (const { path, methods } of contribution.transports ?? []) {
      for (const method of Object.keys(methods)) {
        unique(`plugins/${plugin.name}`, 'operation', `${method} ${path}`);
      }
    }
    for (const reading of contribution.readings ?? []) {
      unique(`plugins/${plugin.name}`, 'metric', reading.name);
    }
    for (const seed of contribution.seeds ?? []) {
      unique(`plugins/${plugin.name}`, 'seed', seed.name);
    }
    const quotas = Object.keys(plugin.quotas ?? {})
      .sort()
      .join(', ');
    const counts = Object.keys(contribution.counts ?? {})
      .sort()
      .join(', ');
    if (quotas !== counts) {
      faults.push(
        `plugins/${plugin.name}: counts: must count for each of its quotas: ${quotas || 'none'}`,
      );
    }
    for (const { event } of contribution.listeners ?? []) {
      if (known.domainEvents.has(event)) continue;
      faults.push(
        `plugins/${plugin.name}: listeners: neither it nor a plugin that it requires emits ${event.name}`,
      );
    }
  }
  const identities = all.filter(({ contribution }) => contribution.identity !== undefined);
  if (identities.length !== 1) {
    const found = identities.map(({ plugin }) => plugin.name).join(', ') || 'none';
    faults.push(`plugins: exactly one plugin must answer who a caller is (identity): ${found}`);
  }
  return faults;
}

interface Known {
  scopes: ReadonlySet<string>;
  budgets: ReadonlySet<string>;
  quotas: ReadonlySet<string>;
  errors: ReadonlySet<string>;
  domainEvents: ReadonlySet<DomainEvent<unknown>>;
}

/**
 * What a plugin may use: what the host, it itself and the plugins that it requires declare. Errors
 * may be those of any plugin, since one that is not required may provide what fails.
 */
function declaredFor(plugin: Plugin, all: readonly Plugin[]): Known {
  const near = all.filter(({ name: other }) => [plugin.name, ...plugin.requires].includes(other));
  return {
    scopes: new Set(near.flatMap(({ scopes = {} }) => Object.keys(scopes))),
    budgets: new Set([
      ...Object.keys(HOST_BUDGETS),
      ...near.flatMap(({ budgets = {} }) => Object.keys(budgets)),
    ]),
    quotas: new Set(near.flatMap(({ quotas = {} }) => Object.keys(quotas))),
    errors: new Set(
      [...hostErrors, ...all.flatMap(({ errors = [] }) => errors)].map(({ code }) => code),
    ),
    domainEvents: new Set(near.flatMap(({ emits = [] }) => emits)),
  };
}

function faultsBetween(place: string, operation: Operation, known: Known): string[] {
  const faults: string[] = [];
  const { access, limit, method, quota, idempotent } = operation;
  const undeclared = (key: string, kind: string, value: string): void => {
    faults.push(
      `${place}: ${key}: neither it nor a plugin that it requires declares the ${kind} ${value}`,
    );
  };
  if ('public' in access && (method !== 'GET' || typeof limit === 'string')) {
    faults.push(`${place}: access: what needs no token can only be a GET without a limit`);
  }
  if (method === 'GET' && (quota !== undefined || idempotent)) {
    faults.push(`${place}: method: a GET takes neither a quota nor an Idempotency-Key`);
  }
  if (operation.audit !== undefined && !operation.path.includes('{id}')) {
    faults.push(`${place}: audit: only an operation on {id} says by its path what it acts on`);
  }
  if ('scope' in access && !known.scopes.has(access.scope)) {
    undeclared('access', 'scope', access.scope);
  }
  if (typeof limit === 'string' && !known.budgets.has(limit)) undeclared('limit', 'budget', limit);
  if (quota !== undefined && !known.quotas.has(quota)) undeclared('quota', 'quota', quota);
  const inPath = [...operation.path.matchAll(/\{([a-z]+)\}/g)].map((match) => match[1]);
  const declared = Object.keys(operation.params ?? {});
  if (inPath.join() !== declared.join()) {
    faults.push(`${place}: params: must list the parameters of the path: ${inPath.join(', ')}`);
  }
  for (const error of [...(operation.errors ?? []), ...Object.values(operation.params ?? {})]) {
    if (!known.errors.has(error.code)) {
      faults.push(`${place}: errors: no plugin declares the error code ${error.code}`);
    }
  }
  return faults;
}
