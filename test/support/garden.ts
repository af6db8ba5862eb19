import type { mongo } from 'mongoose';

import { collectionNames } from '../../src/data/mongodb/database-reader';
import { jsonSchemaOf } from '../../src/fields/json-schema';
import type { Operation } from '../../src/plugins/operation';
import { operationName } from '../../src/plugins/operation-facts';
import {
  fieldsOf,
  fullRequest,
  type Ids,
  kindOf,
  kinds,
  operationRows,
  referenceOf,
  type SampleRequest,
  validRequest,
} from './operations';
import type { TestService, TestUser } from './service';
import { bodyOf } from './bodies';

const operations = operationRows().map(([, operation]) => operation);

/** The operations that create a record of each kind, each after those of the records that it needs. */
const creations = inOrder(
  kinds.flatMap((kind) => {
    const create = creationOf(kind);
    return create ? [{ kind, create }] : [];
  }),
);

/** A record of each kind of a user, in which every field has a value. */
export async function gardenOf(user: TestUser): Promise<Ids> {
  const ids: Record<string, string> = {};
  // The second time, each can refer to all others.
  for (const requestOf of [validRequest, fullRequest]) {
    for (const { kind, create } of creations) {
      ids[kind] = await idOfNew(user, create, requestOf(create, ids));
    }
  }
  return ids;
}

/** The same with half the writes: nothing is created twice unless another record must refer to it first. */
export async function smallGardenOf(user: TestUser, kept: Ids = {}): Promise<Ids> {
  const ids: Record<string, string> = { ...kept };
  const prepare = async (kind: string): Promise<void> => {
    const found = creations.find((each) => each.kind === kind);
    if (kind in ids || !found) return;
    for (const needed of needs(found.create)) await prepare(needed);
    ids[kind] = await idOfNew(user, found.create, validRequest(found.create, ids));
  };
  for (const { kind, create } of creations.filter((each) => !(each.kind in kept))) {
    // The records that it refers to must exist, and some of them refer to it in turn.
    for (const named of names(create)) await prepare(named);
    ids[kind] = await idOfNew(user, create, fullRequest(create, ids));
  }
  return ids;
}

/** Records for calls of operations; new ones after an operation that may have deleted or archived some. */
export class Garden {
  readonly #user: TestUser;
  #ids: Ids | undefined;
  #kept: Ids = {};

  constructor(user: TestUser) {
    this.#user = user;
  }

  async ids(): Promise<Ids> {
    return (this.#ids ??= await smallGardenOf(this.#user, this.#kept));
  }

  /** Must be called after each call of an operation. */
  called(operation: Operation): void {
    const { method, path, params = {} } = operation;
    if (method !== 'DELETE' && !/\/(delete|archive)$/.test(path)) return;
    const [, named] = /^\/api\/(\w+)s\b/.exec(path) ?? [];
    const inPath = Object.keys(params).map((name) => kindOf(operation, name));
    const gone = inPath.length === 0 && named !== undefined ? [named] : inPath;
    const isKept = ([kind]: [string, string]): boolean =>
      gone.length > 0 && gone.every((each) => !relatedTo(each).has(kind));
    this.#kept = Object.fromEntries(Object.entries(this.#ids ?? this.#kept).filter(isKept));
    this.#ids = undefined;
  }
}

/** Collections that are written without a request, or by every request. */
const WRITTEN_BY_ITSELF =
  /^(audit|pushKeys$|reminderClocks$|webhookClocks$|webhookDeliveries$|deliveries$)/;

/** What was stored at the last call, with MongoDB's own hash of it. */
const lastStored = new WeakMap<TestService, { hash: string; texts: Record<string, string[]> }>();

/** All stored documents as text, without those that are written without a request, and without uses of tokens and visits. */
export async function everythingStored(service: TestService): Promise<Record<string, string[]>> {
  const { db } = service.app.database.connection;
  if (!db) throw new Error('The service is not connected.');
  const names = (await collectionNames(db)).filter((name) => !WRITTEN_BY_ITSELF.test(name));
  const hash = String((await db.command({ dbHash: 1, collections: names }))['md5']);
  const last = lastStored.get(service);
  if (last?.hash === hash) return last.texts;
  const texts = await textsOf(db, names);
  lastStored.set(service, { hash, texts });
  return texts;
}

async function textsOf(db: mongo.Db, names: readonly string[]): Promise<Record<string, string[]>> {
  const allOf = (coll: string) => [
    { $project: { _id: 0, in: { $literal: coll }, document: '$$ROOT' } },
    { $unset: ['document.lastUsedAt', 'document.lastSeenAt'] },
  ];
  const [first = '', ...others] = names;
  const unions = others.map((coll) => ({ $unionWith: { coll, pipeline: allOf(coll) } }));
  // In one command, since dozens of them take longer than most tests.
  const stored = db
    .collection(first)
    .aggregate<{ in: string; document: object }>([...allOf(first), ...unions]);
  const texts: Record<string, string[]> = Object.fromEntries(names.map((name) => [name, []]));
  for await (const { in: name, document } of stored) texts[name]?.push(JSON.stringify(document));
  for (const each of Object.values(texts)) each.sort();
  return texts;
}

interface Creation {
  kind: string;
  create: Operation;
}

/** The POST that returns a record of the kind, or else the one at the path of its list. */
function creationOf(kind: string): Operation | undefined {
  const ending = (form: RegExp) =>
    operations.filter((operation) => {
      const [, parameter = ''] = form.exec(operation.path) ?? [];
      return kindOf(operation, parameter) === kind;
    });
  const atEnd = ending(/\{(\w+)\}$/);
  // Some records have only actions.
  const ofOne = atEnd.length > 0 ? atEnd : ending(/\{(\w+)\}\/\w+$/);
  const isAbout = (operation: Operation): boolean =>
    Object.keys(operation.params ?? {}).some((name) => kindOf(operation, name) === kind);
  const posts = operations.filter((each) => each.method === 'POST' && !isAbout(each));
  const lists = ofOne.map(({ path }) => path.replace(/\/\{\w+\}$/, ''));
  const shapes = ofOne.map(shapeOf);
  return (
    posts.find((each) => each.response.status === 201 && shapes.includes(shapeOf(each))) ??
    posts.find(({ path }) => lists.includes(path))
  );
}

function shapeOf({ response }: Operation): string {
  return JSON.stringify(jsonSchemaOf(response.schema, 'output'));
}

function inOrder(all: readonly Creation[]): Creation[] {
  const ordered: Creation[] = [];
  // Those that most others need come first.
  const neededBy = ({ kind }: Creation): number =>
    all.filter(({ create }) => [...needs(create), ...names(create)].includes(kind)).length;
  const waiting = [...all].sort((a, b) => neededBy(b) - neededBy(a));
  while (waiting.length > 0) {
    const made = ordered.map(({ kind }) => kind);
    const next = waiting.findIndex(({ create }) =>
      needs(create).every((kind) => made.includes(kind)),
    );
    const [ready] = next < 0 ? [] : waiting.splice(next, 1);
    if (!ready) {
      const names = waiting.map(
        ({ create }) => `${operationName(create)} (${needs(create).join()})`,
      );
      throw new Error(`These need records that no operation creates: ${names.join(', ')}`);
    }
    ordered.push(ready);
  }
  return ordered;
}

/** The kinds of records that its body may refer to. */
function names(create: Operation): string[] {
  return fieldsOf(create.body).flatMap((field) => referenceOf(create, field) ?? []);
}

/** The kinds of records that must exist before one is created. */
function needs(create: Operation): string[] {
  const inPath = Object.keys(create.params ?? {}).map((name) => kindOf(create, name));
  const inBody = fieldsOf(create.body)
    .filter((field) => field.required)
    .flatMap((field) => referenceOf(create, field) ?? []);
  return [...inPath, ...inBody];
}

/** A kind of records and all those that refer to it or to which it refers, also through others. */
function relatedTo(kind: string): ReadonlySet<string> {
  const related = new Set([kind]);
  for (let size = 0; size < related.size;) {
    size = related.size;
    for (const { kind: other, create } of creations) {
      const all = [other, ...needs(create), ...names(create)];
      if (all.some((each) => related.has(each))) for (const each of all) related.add(each);
    }
  }
  return related;
}

/** @throws Error with the operation, the sample and the response if it is refused */
async function idOfNew(
  user: TestUser,
  create: Operation,
  { path, body }: SampleRequest,
): Promise<string> {
  const answer = await user.post(path, body);
  if (answer.status === create.response.status) return String(bodyOf(answer)['id']);
  throw new Error(
    `${operationName(create)} responds to the sample ${JSON.stringify(body)} with ${answer.status}: ${answer.text}`,
  );
}
