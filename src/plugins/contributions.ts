import Joi from 'joi';

import { hostErrors } from '../core/errors';
import { HOST_BUDGETS } from '../core/settings/host-settings';
import { isTracked } from '../data/model/models';
import { operationName, requiredScopes } from './operation-facts';
import type { Plugin, SetUpPlugin } from './plugin';
import { uniqueness, camelName, faultOf, sentence, snakeName } from './manifests';
import type { DomainEvent } from '../data/writing/transaction';
import type { Operation } from './operation';

/** Finds faults between contributions, and between contributions and manifests. */
export function contributionFaults(all: readonly SetUpPlugin[]): string[] {
  const faults: string[] = [];
  const unique = uniqueness(faults);
  const plugins = all.map(({ plugin }) => plugin);
  for (const { plugin, contribution, operations } of all) {
    const known = declaredFor(plugin, plugins);
    const place = `plugins/${plugin.name}`;
    for (const operation of operations) {
      const { method, path, tool } = operation;
      const label = `${place}: ${operationName(operation)}`;
      unique(label, {
        operation: [`${method} ${path.replace(/\{[a-z]+\}/g, '{}')}`],
        tool: 'name' in tool ? [tool.name] : [],
      });
      faults.push(...operationFaults(operation, known).map((each) => `${label}: ${each}`));
    }
    const { protocols = [], listeners = [], changes = [], seeds } = contribution;
    unique(place, {
      operation: protocols.flatMap(({ path, methods }) =>
        Object.keys(methods).map((method) => `${method} ${path}`),
      ),
      seed: seeds?.map(({ name }) => name),
      'list of changes': changes.map(({ name }) => name),
    });
    const shown = changes.map(({ model }) => model?.name);
    for (const model of (plugin.models ?? []).filter(isTracked)) {
      if (shown.includes(model.name)) continue;
      faults.push(`${place}: changes: must show the tracked model ${model.name}`);
    }
    faults.push(...quotaFaults(plugin));
    for (const { event } of listeners.filter((each) => !known.domainEvents.has(each.event))) {
      faults.push(
        `${place}: listeners: neither it nor a plugin that it requires emits ${event.name}`,
      );
    }
  }
  const identities = all.filter(({ contribution }) => contribution.identity !== undefined);
  if (identities.length !== 1) {
    const found = identities.map(({ plugin }) => plugin.name).join(', ') || 'none';
    faults.push(`plugins: exactly one plugin must have an identity: ${found}`);
  }
  return faults;
}

/** A quota needs a model that counts against it, and a model its quota. */
function quotaFaults({ name, quotas = {}, models = [] }: Plugin): string[] {
  const counted = models.flatMap(({ quota }) => quota ?? []);
  return [
    ...Object.keys(quotas)
      .filter((quota) => !counted.includes(quota))
      .map((quota) => `plugins/${name}: quotas: none of its models counts against ${quota}`),
    ...counted
      .filter((quota) => !Object.hasOwn(quotas, quota))
      .map((quota) => `plugins/${name}: models: the plugin does not declare the quota ${quota}`),
  ];
}

/**
 * What a plugin may use: declarations of the host, of its own, and of the plugins that it requires,
 * directly or not. Errors may be those of any plugin, since its listeners may fail.
 */
function declaredFor(plugin: Plugin, all: readonly Plugin[]): Known {
  const near = new Set([plugin]);
  // The loop also visits plugins that are added meanwhile.
  for (const { requires } of near) {
    for (const other of all) if (requires.includes(other.name)) near.add(other);
  }
  const keysOf = (facts: 'scopes' | 'budgets'): string[] =>
    [...near].flatMap((each) => Object.keys(each[facts] ?? {}));
  const errors = [...hostErrors, ...all.flatMap(({ errors: own = [] }) => own)];
  return {
    scope: new Set(keysOf('scopes')),
    budget: new Set([...Object.keys(HOST_BUDGETS), ...keysOf('budgets')]),
    errors: new Set(errors.map(({ code }) => code)),
    domainEvents: new Set([...near].flatMap(({ emits = [] }) => emits)),
  };
}

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
interface Known {
  scope: ReadonlySet<string>;
  budget: ReadonlySet<string>;
  errors: ReadonlySet<string>;
  domainEvents: ReadonlySet<DomainEvent<unknown>>;
}

/** The faults in an operation, each with its key. */
function operationFaults(operation: Operation, known: Known): string[] {
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
