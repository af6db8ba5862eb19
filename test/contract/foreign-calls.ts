import type { Operation } from '../../src/plugins/operation';
import { rpc } from '../mcp/support';
import type { Ids } from '../support/operations';
import { keptConnections, send } from '../support/raw';
import type { TestService, TestUser } from '../support/service';
import {
  alternativesOf,
  operationName,
  gardenOf,
  fieldsOf,
  kindOf,
  kinds,
  operationRows,
  referenceOf,
  validRequest,
} from '../support/program';

/** An account, with records of each kind. */
export interface Caller {
  url: string;
  user: TestUser;
  ids: Ids;
}

export async function callerOf(service: TestService): Promise<Caller> {
  const user = await service.user();
  return { url: service.url, user, ids: await gardenOf(user) };
}

/** A place in a request for the id of a record. */
export interface Reference {
  operation: Operation;
  place: 'path' | 'query' | 'body';
  /** The parameter or field. */
  name: string;
  /** The kind of record: `plant`, `event`, `photo`. */
  kind: string;
  isList: boolean;
}

/** Every reference in the parameters and schemas of every operation. */
export const references: readonly Reference[] = operationRows().flatMap(([, operation]) =>
  referencesOf(operation),
);

function referencesOf(operation: Operation): Reference[] {
  const inPath = Object.keys(operation.params ?? {}).map((name) => ({
    name,
    kind: kindOf(operation, name),
    isList: false,
    operation,
    place: 'path' as const,
  }));
  const inQuery = fieldsOf(operation.query)
    .filter(({ format }) => format === 'uuid')
    .map(({ name }) => ({
      name,
      kind: kindIn(name),
      isList: false,
      operation,
      place: 'query' as const,
    }));
  const inBody = fieldsOf(operation.body).flatMap((field) => {
    const kind = referenceOf(operation, field);
    if (kind === undefined) return [];
    const { name, type } = field;
    return [{ name, kind, isList: type === 'array', operation, place: 'body' as const }];
  });
  return [...inPath, ...inQuery, ...inBody];
}

/** A filter that finds nothing is no error, so no error names the kind. */
function kindIn(name: string): string {
  const kind = kinds.find((each) => name.toLowerCase().includes(each));
  if (kind === undefined) throw new Error(`No kind of record is in the name of ${name}.`);
  return kind;
}

/** Headers that differ between any two responses: the time, and the rest of a budget or connection. */
const OF_THE_MOMENT = /^(date|connection|keep-alive|x-request-id|(x-)?ratelimit.*)$/;

export interface Answer {
  status: number;
  headers: object;
  body: string;
}

/** Refers to a record over REST, in a request with only records of the caller otherwise. */
function rest(caller: Caller, reference: Reference, id: string): Promise<Answer> {
  const { operation, place, kind, name } = reference;
  const named = place === 'path' ? { ...caller.ids, [kind]: id } : caller.ids;
  const { method, path, body } = validRequest(operation, named);
  const url = new URL(path, caller.url);
  if (place === 'query') url.searchParams.set(name, id);
  const fields = place === 'body' ? fieldOf(reference, id) : {};
  const rest = body && withoutRivals(reference, body);
  return sendAs(caller, method, url.pathname + url.search, rest && { ...rest, ...fields });
}

/** The same with the operation's tool. */
function tool(caller: Caller, reference: Reference, id: string): Promise<Answer> {
  const { operation } = reference;
  const { toolArguments } = validRequest(operation, caller.ids);
  const name = 'name' in operation.tool ? operation.tool.name : '';
  // What the record narrows must be in the result.
  const shown = operationName(operation) === 'GET /api/insights' && { sections: 'growthTracking' };
  const given = { ...withoutRivals(reference, toolArguments), ...fieldOf(reference, id), ...shown };
  return sendAs(caller, 'POST', '/api/mcp', rpc('tools/call', { name, arguments: given }));
}

/** A request without the fields that exclude the one with the reference. */
function withoutRivals({ operation, name }: Reference, given: object): object {
  const rivals = alternativesOf(operation.body)
    .filter((names) => names.includes(name))
    .flat();
  return Object.fromEntries(Object.entries(given).filter(([each]) => !rivals.includes(each)));
}

function fieldOf({ name, isList }: Reference, id: string): object {
  return { [name]: isList ? [id] : id };
}

export async function sendAs(
  { url, user }: Caller,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const answer = await send(url, method, path, {
    headers: {
      Authorization: `Bearer ${user.token}`,
      ...(body ? { 'Content-Type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
    agent: keptConnections,
  });
  const lasting = Object.entries(answer.headers).filter(([name]) => !OF_THE_MOMENT.test(name));
  return { status: answer.status, headers: Object.fromEntries(lasting), body: answer.body };
}

/** Every reference over each of its transports: rows for `test.each`. */
export const calls = references.flatMap((reference) =>
  [
    { label: 'REST', call: rest },
    ...('name' in reference.operation.tool ? [{ label: 'its tool', call: tool }] : []),
  ].map(({ label, call }) => {
    const { operation, place, name } = reference;
    const where = place === 'path' ? 'its path' : name;
    return [operationName(operation), label, where, { reference, call }] as const;
  }),
);
