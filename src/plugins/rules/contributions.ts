import { hostErrors } from '../../core/errors';
import { HOST_BUDGETS } from '../../core/host-settings';
import type { DomainEvent } from '../../data/domain-event';
import { isTracked } from '../../data/models';
import type { Operation } from '../operation';
import { operationName } from '../operation-facts';
import type { Plugin, SetUpPlugin } from '../plugin';
import { uniqueness } from './schemas';

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
    for (const { path, methods } of contribution.protocols ?? []) {
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
    for (const list of contribution.changes ?? []) {
      unique(`plugins/${plugin.name}`, 'list of changes', list.name);
    }
    const shown = (contribution.changes ?? []).map(({ model }) => model?.name);
    for (const model of (plugin.models ?? []).filter(isTracked)) {
      if (shown.includes(model.name)) continue;
      faults.push(`plugins/${plugin.name}: changes: must show the tracked model ${model.name}`);
    }
    faults.push(...quotaFaults(plugin));
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

/** Quotas and models that count against them belong together, or nothing would be counted. */
function quotaFaults({ name, quotas = {}, models = [] }: Plugin): string[] {
  const counted = models.flatMap(({ quota }) => quota?.name ?? []);
  return [
    ...Object.keys(quotas)
      .filter((quota) => !counted.includes(quota))
      .map((quota) => `plugins/${name}: quotas: none of its models counts against ${quota}`),
    ...counted
      .filter((quota) => !Object.hasOwn(quotas, quota))
      .map((quota) => `plugins/${name}: models: it does not declare the quota ${quota}`),
  ];
}

interface Known {
  scopes: ReadonlySet<string>;
  budgets: ReadonlySet<string>;
  errors: ReadonlySet<string>;
  domainEvents: ReadonlySet<DomainEvent<unknown>>;
}

/**
 * What a plugin may use: what the host, it itself and the plugins that it requires, and so on from
 * there, declare. Errors may be those of any plugin, since a listener may be what fails.
 */
function declaredFor(plugin: Plugin, all: readonly Plugin[]): Known {
  const near = new Set([plugin]);
  // A set goes on to what is added to it meanwhile.
  for (const { requires } of near) {
    for (const other of all) if (requires.includes(other.name)) near.add(other);
  }
  return {
    scopes: new Set([...near].flatMap(({ scopes = {} }) => Object.keys(scopes))),
    budgets: new Set([
      ...Object.keys(HOST_BUDGETS),
      ...[...near].flatMap(({ budgets = {} }) => Object.keys(budgets)),
    ]),
    errors: new Set(
      [...hostErrors, ...all.flatMap(({ errors = [] }) => errors)].map(({ code }) => code),
    ),
    domainEvents: new Set([...near].flatMap(({ emits = [] }) => emits)),
  };
}

function faultsBetween(place: string, operation: Operation, known: Known): string[] {
  const faults: string[] = [];
  const { access, limit, method, idempotent } = operation;
  const undeclared = (key: string, kind: string, value: string): void => {
    faults.push(
      `${place}: ${key}: neither it nor a plugin that it requires declares the ${kind} ${value}`,
    );
  };
  if ('public' in access && (method !== 'GET' || typeof limit === 'string')) {
    faults.push(`${place}: access: what needs no token can only be a GET without a limit`);
  }
  if (method === 'GET' && idempotent) {
    faults.push(`${place}: method: a GET takes no Idempotency-Key`);
  }
  if (operation.audit !== undefined && !operation.path.includes('{id}')) {
    faults.push(`${place}: audit: only an operation on {id} says by its path what it acts on`);
  }
  if ('scope' in access && !known.scopes.has(access.scope)) {
    undeclared('access', 'scope', access.scope);
  }
  if (typeof limit === 'string' && !known.budgets.has(limit)) undeclared('limit', 'budget', limit);
  const inPath = [...operation.path.matchAll(/\{([a-z]+)\}/g)].map((match) => match[1]);
  const declared = Object.keys(operation.params ?? {});
  if (inPath.join() !== declared.join()) {
    faults.push(`${place}: params: must list the parameters of the path: ${inPath.join(', ')}`);
  }
  if (operation.account !== undefined && !declared.includes(operation.account)) {
    faults.push(`${place}: account: must be a parameter of the path: ${inPath.join(', ')}`);
  }
  for (const error of [...(operation.errors ?? []), ...Object.values(operation.params ?? {})]) {
    if (!known.errors.has(error.code)) {
      faults.push(`${place}: errors: no plugin declares the error code ${error.code}`);
    }
  }
  return faults;
}
