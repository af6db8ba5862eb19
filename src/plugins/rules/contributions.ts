import { hostErrors } from '../../core/errors';
import { HOST_BUDGETS } from '../../core/host-settings';
import type { DomainEvent } from '../../data/domain-event';
import type { Operation } from '../operation';
import { operationName } from '../operation-facts';
import type { Plugin, SetUpPlugin } from '../plugin';
import { uniqueness } from './schemas';

/** What is wrong between contributions, and between them and the manifests. */
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
    const { protocols = [], counts, listeners = [] } = contribution;
    unique(place, {
      operation: protocols.flatMap(({ path, methods }) =>
        Object.keys(methods).map((method) => `${method} ${path}`),
      ),
      metric: contribution.readings?.map(({ name }) => name),
      seed: contribution.seeds?.map(({ name }) => name),
    });
    const quotas = namesIn(plugin.quotas);
    if (namesIn(counts) !== quotas) {
      faults.push(`${place}: counts: must count for each of its quotas: ${quotas || 'none'}`);
    }
    for (const { event } of listeners.filter((each) => !known.domainEvents.has(each.event))) {
      faults.push(
        `${place}: listeners: neither it nor a plugin that it requires emits ${event.name}`,
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

function namesIn(object: object = {}): string {
  return Object.keys(object).sort().join(', ');
}

interface Known {
  scope: ReadonlySet<string>;
  budget: ReadonlySet<string>;
  quota: ReadonlySet<string>;
  errors: ReadonlySet<string>;
  domainEvents: ReadonlySet<DomainEvent<unknown>>;
}

/**
 * What a plugin may use: what the host, it itself and the plugins that it requires declare. Errors
 * may be those of any plugin, since one that is not required may provide what fails.
 */
function declaredFor(plugin: Plugin, all: readonly Plugin[]): Known {
  const near = all.filter(({ name: other }) => [plugin.name, ...plugin.requires].includes(other));
  const keysOf = (facts: 'scopes' | 'budgets' | 'quotas'): string[] =>
    near.flatMap((each) => Object.keys(each[facts] ?? {}));
  const errors = [...hostErrors, ...all.flatMap(({ errors: own = [] }) => own)];
  return {
    scope: new Set(keysOf('scopes')),
    budget: new Set([...Object.keys(HOST_BUDGETS), ...keysOf('budgets')]),
    quota: new Set(keysOf('quotas')),
    errors: new Set(errors.map(({ code }) => code)),
    domainEvents: new Set(near.flatMap(({ emits = [] }) => emits)),
  };
}

function operationFaults(operation: Operation, known: Known): string[] {
  const faults: string[] = [];
  const { access, limit, method, path, quota, idempotent, audit, errors = [] } = operation;
  const { params = {} } = operation;
  const requireDeclared = (
    key: string,
    kind: 'scope' | 'budget' | 'quota',
    value: string | undefined,
  ): void => {
    if (value === undefined || known[kind].has(value)) return;
    faults.push(`${key}: neither it nor a plugin that it requires declares the ${kind} ${value}`);
  };
  if ('public' in access && (method !== 'GET' || typeof limit === 'string')) {
    faults.push('access: what needs no token can only be a GET without a limit');
  }
  if (method === 'GET' && (quota !== undefined || idempotent)) {
    faults.push('method: a GET takes neither a quota nor an Idempotency-Key');
  }
  if (audit !== undefined && !path.includes('{id}')) {
    faults.push('audit: only an operation on {id} says by its path what it acts on');
  }
  requireDeclared('access', 'scope', 'scope' in access ? access.scope : undefined);
  requireDeclared('limit', 'budget', typeof limit === 'string' ? limit : undefined);
  requireDeclared('quota', 'quota', quota);
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
