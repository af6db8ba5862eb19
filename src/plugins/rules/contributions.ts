import Joi from 'joi';

import { hostErrors } from '../../errors';
import { HOST_BUDGETS } from '../../http/rate-limit';
import { TIERS } from '../../identity';
import type { Contribution, Plugin } from '../manifest';
import { type Operation, operationName } from '../operation';
import { errorCode, faultOf, name, reasonFor, sentence, snakeName, uniqueness } from './kit';

const apiPath = Joi.string().pattern(
  /^(\/([a-z][a-z.-]*|\{[a-z]+\}))+$/,
  'a path such as /api/records/{id}',
);

const transportMethod = Joi.object({
  summary: sentence.required(),
  access: Joi.alternatives(reasonFor('anyToken'), reasonFor('public')).required(),
  handler: Joi.function().required(),
});
const transportMethods = Joi.object({ GET: transportMethod, POST: transportMethod }).min(1);

const contributionSchema = Joi.object({
  offers: Joi.any(),
  operations: Joi.array(),
  transports: Joi.array().items(
    Joi.object({ path: apiPath.required(), methods: transportMethods.required() }),
  ),
  listeners: Joi.object().pattern(/./, Joi.function()),
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
  seeds: Joi.array().items(
    Joi.object({
      name: name.required(),
      schema: Joi.object().schema().required(),
      obstacles: Joi.function(),
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
  quota: Joi.string(),
  idempotent: Joi.boolean(),
  tool: Joi.alternatives(
    Joi.object({ name: snakeName.required(), description: sentence.required() }),
    reasonFor('none'),
  ).required(),
  handler: Joi.function().required(),
}).required();

/** What is wrong with what a plugin contributes, by itself. */
export function contributionFault(plugin: Plugin, contribution: unknown): string | undefined {
  const fault = faultOf(contributionSchema, contribution);
  if (fault !== undefined) return `plugins/${plugin.name}: setup: ${fault}`;
  // The schema allows nothing but an array here.
  const { operations = [] } = contribution as { operations?: Partial<Operation>[] };
  for (const operation of operations) {
    const operationFault = faultOf(operationSchema, operation);
    if (operationFault === undefined) continue;
    const label = operationName({ method: '?', path: '?', ...operation });
    return `plugins/${plugin.name}: ${label}: ${operationFault}`;
  }
  return undefined;
}

/** What is wrong between contributions, and between them and the manifests. */
export function contributionFaults(contributions: ReadonlyMap<Plugin, Contribution>): string[] {
  const plugins = [...contributions.keys()];
  const faults: string[] = [];
  const unique = uniqueness(faults);
  const known = {
    scopes: new Set(plugins.flatMap((plugin) => Object.keys(plugin.scopes ?? {}))),
    budgets: new Set([
      ...Object.keys(HOST_BUDGETS),
      ...plugins.flatMap((plugin) => Object.keys(plugin.budgets ?? {})),
    ]),
    quotas: new Set(plugins.flatMap((plugin) => Object.keys(plugin.quotas ?? {}))),
    errors: new Set(
      [...hostErrors, ...plugins.flatMap((plugin) => plugin.errors ?? [])].map(({ code }) => code),
    ),
  };
  for (const [plugin, contribution] of contributions) {
    for (const operation of contribution.operations ?? []) {
      const place = `plugins/${plugin.name}: ${operationName(operation)}`;
      const shape = operation.path.replace(/\{[a-z]+\}/g, '{}');
      unique(place, 'operation', `${operation.method} ${shape}`);
      if ('name' in operation.tool) unique(place, 'tool', operation.tool.name);
      faults.push(...operationFaults(place, operation, known));
    }
    for (const { path, methods } of contribution.transports ?? []) {
      for (const method of Object.keys(methods)) {
        unique(`plugins/${plugin.name}`, 'operation', `${method} ${path}`);
      }
    }
    for (const seed of contribution.seeds ?? [])
      unique(`plugins/${plugin.name}`, 'seed', seed.name);
  }
  const identities = [...contributions].filter(([, { identity }]) => identity !== undefined);
  if (identities.length !== 1) {
    const found = identities.map(([plugin]) => plugin.name).join(', ') || 'none';
    faults.push(`plugins: exactly one plugin must answer who a caller is (identity): ${found}`);
  }
  return faults;
}

interface Known {
  scopes: ReadonlySet<string>;
  budgets: ReadonlySet<string>;
  quotas: ReadonlySet<string>;
  errors: ReadonlySet<string>;
}

function operationFaults(place: string, operation: Operation, known: Known): string[] {
  const faults: string[] = [];
  const { access, limit, method, quota, idempotent } = operation;
  if ('public' in access && (method !== 'GET' || typeof limit === 'string')) {
    faults.push(`${place}: access: what needs no token can only be a GET without a limit`);
  }
  if (method === 'GET' && (quota !== undefined || idempotent === true)) {
    faults.push(`${place}: method: a GET takes neither a quota nor an Idempotency-Key`);
  }
  if ('scope' in access && !known.scopes.has(access.scope)) {
    faults.push(`${place}: access: no plugin declares the scope ${access.scope}`);
  }
  if (typeof limit === 'string' && !known.budgets.has(limit)) {
    faults.push(`${place}: limit: no plugin declares the budget ${limit}`);
  }
  if (quota !== undefined && !known.quotas.has(quota)) {
    faults.push(`${place}: quota: no plugin declares the quota ${quota}`);
  }
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
