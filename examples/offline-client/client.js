// @ts-check
'use strict';

const { GardenGone, openApi } = require('./api');

/** @import { Change, Changes, Copy, DueItem, Problem, Reply, State, Store } from './types' */

/** @type {('plants' | 'schedules' | 'events' | 'photos')[]} */
const KINDS = ['plants', 'schedules', 'events', 'photos'];

/** @returns {Copy} */
function emptyCopy() {
  return { cursor: undefined, plants: {}, schedules: {}, events: {}, photos: {}, snoozes: [] };
}

/** Idempotency keys are valid for seven days; this leaves a day for clocks that are off. */
const KEY_MS = 6 * 86_400_000;

/**
 * A copy of a garden that can be read and changed offline: the person's own, or the shared one with the id
 * `garden`. Give each person a store of their own for each garden.
 *
 * @param {{ url: string, store: Store, keychain: Store, garden?: string, timeoutMs?: number }} options
 */
function openClient({ store, ...options }) {
  const { send } = openApi(options);
  /** @type {State} */
  const state = { copy: emptyCopy(), queue: [], problems: [], ...JSON.parse(store.load() ?? '{}') };
  const { copy, queue, problems } = state;
  /** @type {Record<string, string[]>} the ids of the records that a key stood for */
  const idsOf = {};

  function save() {
    store.save(JSON.stringify(state));
  }

  /**
   * Replaces the keys of saved records by their ids; in a list, a key may stand for several.
   *
   * @type {<T>(value: T) => T}
   */
  function withIds(value) {
    /** @param {string} key */
    const listed = (key) => idsOf[key]?.map((id) => `"${id}"`).join();
    const text = JSON.stringify(value)
      .replace(/"([\da-f-]{36})"/g, (quoted, key) => listed(key) ?? quoted)
      .replace(/[\da-f-]{36}/g, (key) => idsOf[key]?.[0] ?? key);
    return JSON.parse(text);
  }

  /**
   * Queues a request. Returns its key, which is the id of the record that it adds until it is answered.
   *
   * @param {string} method
   * @param {string} path
   * @param {Change['body']} [body]
   * @param {Change['seen']} [seen]
   */
  function enqueue(method, path, body, seen) {
    const key = crypto.randomUUID();
    queue.push(withIds({ key, method, path, body, seen }));
    save();
    return key;
  }

  /**
   * Queues a change of a record that the person sees.
   *
   * @param {(typeof KINDS)[number]} kind
   * @param {string} id
   * @param {Record<string, unknown>} fields
   */
  function edit(kind, id, fields) {
    const path = withIds(`/api/${kind}/${id}`);
    const record = copy[kind][withIds(id)];
    if (!record) return enqueue('PATCH', path, fields); // The queue adds it.
    const edits = queue.filter((change) => change.method === 'PATCH' && change.path === path);
    const shown = Object.assign({}, record, ...edits.map(({ body }) => body));
    const seen = Object.keys(fields).map((field) => [field, shown[field]]);
    const { updatedAt } = record;
    return enqueue('PATCH', path, fields, { updatedAt, fields: Object.fromEntries(seen) });
  }

  /**
   * Queues what the person decided about due care.
   *
   * @param {'done' | 'skip' | 'snooze'} what
   * @param {DueItem} item
   * @param {{ until?: string, text?: string }} [details]
   */
  function decide(what, { plantId, scheduleId, care, dueOn }, details) {
    const chosen = scheduleId === null ? { plantId, type: care } : { plantId, scheduleId };
    const now = new Date().toISOString();
    const moment = what === 'done' ? { occurredAt: now } : { at: now };
    return enqueue('POST', `/api/care/${what}`, { ...chosen, ...moment, dueOn, ...details });
  }

  /** Sends the queue. What is refused moves to the problems. */
  async function flush() {
    for (let [change] = queue; change; [change] = queue) {
      change.sentAt ??= Date.now();
      save();
      const { key, method, path, body, seen, sentAt } = change;
      if (method === 'POST' && Date.now() - sentAt > KEY_MS) {
        setAside(change, { code: 'unknown', error: 'This may have been saved already.' });
        continue;
      }
      const answer = await send(method, path, {
        body,
        headers: {
          ...(method === 'POST' && { 'Idempotency-Key': key }),
          ...(seen && { 'If-Match': `"u:${seen.updatedAt}"` }),
        },
      });
      if (answer.status === 412 && (await reconcile(change))) continue;
      const isGone = method === 'DELETE' && answer.status === 404;
      if (answer.status < 400 || isGone) settle(change, answer.body);
      else setAside(change, answer.body);
    }
  }

  /**
   * After a 412: returns false if somebody else changed the same fields.
   *
   * @param {Change} change
   */
  async function reconcile(change) {
    await pull();
    const { path, body, seen } = change;
    const [, , , id = ''] = path.split('/');
    const record = KINDS.map((kind) => copy[kind][id]).find((each) => each);
    if (!record || !body || !seen) return false;
    /** @param {Record<string, unknown>} values */
    const isNow = (values) =>
      Object.keys(body).every(
        (field) =>
          field in record && JSON.stringify(values[field]) === JSON.stringify(record[field]),
      );
    if (isNow(body)) settle(change, {});
    else if (isNow(seen.fields)) seen.updatedAt = record.updatedAt;
    else return false;
    return true;
  }

  /**
   * Removes a change that was made, and gives the ids and `updatedAt` of its records to those after it.
   *
   * @param {Change} change
   * @param {Partial<Reply>} answer
   */
  function settle({ key }, answer) {
    queue.shift();
    const records = answer.items ?? [answer];
    const ids = records.flatMap(({ id }) => id ?? []);
    if (ids.length > 0) idsOf[key] = ids;
    queue.splice(0, queue.length, ...withIds(queue));
    for (const { path, seen } of queue) {
      const { updatedAt = '' } = records.find(({ id }) => path.endsWith(`/${id}`)) ?? {};
      if (seen && seen.updatedAt < updatedAt) seen.updatedAt = updatedAt;
    }
    save();
  }

  /**
   * Keeps a change that was not made, and those that depend on it, until the person has seen them.
   *
   * @param {Change} change
   * @param {Pick<Reply, 'code' | 'error'>} reason
   */
  function setAside(change, { code, error }) {
    const keys = [change.key];
    const changes = queue.filter((each) => {
      const text = JSON.stringify([each.path, each.body]);
      const isPart = each === change || keys.some((key) => text.includes(key));
      if (isPart) keys.push(each.key);
      return isPart;
    });
    problems.push({ changes, code, error });
    queue.splice(0, queue.length, ...queue.filter((each) => !changes.includes(each)));
    save();
  }

  /**
   * Removes a problem that the person has seen and, if they want it, queues its changes once more.
   *
   * @param {Problem} problem
   * @param {{ again: boolean }} options
   */
  function close(problem, { again }) {
    problems.splice(problems.indexOf(problem), 1);
    let text = JSON.stringify(again ? problem.changes : []);
    for (const { key } of problem.changes) text = text.replaceAll(key, crypto.randomUUID());
    // As new ones: whatever was changed meanwhile, the person wants theirs.
    const changes = JSON.parse(text);
    for (const { key, method, path, body } of changes) queue.push({ key, method, path, body });
    save();
  }

  /** Brings the copy up to date. */
  async function pull() {
    for (let hasMore = true; hasMore;) {
      const since = copy.cursor === undefined ? '' : `?since=${encodeURIComponent(copy.cursor)}`;
      const { status, body } = await send('GET', `/api/changes${since}`);
      if (body.code === 'cursor_expired' || body.code === 'invalid_cursor') {
        // Deletions since then are not known. Start again; the queue stays.
        Object.assign(copy, emptyCopy());
        continue;
      }
      if (status !== 200) throw new Error(body.error);
      apply(body);
      hasMore = body.hasMore;
    }
  }

  /** @param {Changes} changes */
  function apply(changes) {
    for (const kind of KINDS) {
      for (const record of changes[kind]) Object.assign(copy[kind], { [record.id]: record });
    }
    const plantIds = new Set(changes.plants.map(({ id }) => id));
    const gone = new Set(changes.deleted.map(({ id }) => id));
    for (const kind of KINDS) {
      for (const { id, plantId } of Object.values(copy[kind])) {
        if (gone.has(id) || (plantId && gone.has(plantId))) delete copy[kind][id];
      }
    }
    const others = copy.snoozes.filter(
      ({ plantId }) => copy.plants[plantId] && !plantIds.has(plantId),
    );
    copy.snoozes = [...others, ...changes.snoozes];
    // Together with the records, so that they always match.
    copy.cursor = changes.nextCursor;
    save();
  }

  /** @type {Promise<void> | undefined} */
  let syncing;

  /**
   * Sends the queue, then brings the copy up to date. One runs at a time.
   *
   * @throws {TryLater | SignInAgain} and what is not sent stays in the queue
   * @throws {GardenGone} and the copy is gone, too
   */
  function sync() {
    syncing ??= syncOnce()
      .catch(dropIfGone)
      .finally(() => (syncing = undefined));
    return syncing;
  }

  /** @param {unknown} error */
  function dropIfGone(error) {
    if (error instanceof GardenGone) {
      Object.assign(copy, emptyCopy());
      const reason = { code: 'garden_not_found', error: error.message };
      for (let [change] = queue; change; [change] = queue) setAside(change, reason);
      save();
    }
    throw error;
  }

  async function syncOnce() {
    const { status, body: account } = await send('GET', '/api/account');
    if (status !== 200) throw new Error(account.error);
    const { userId = account.userId } = state.account ?? {};
    if (userId !== account.userId) throw new Error('Another person has signed in.');
    state.account = account;
    await flush();
    await pull();
  }

  return { state, send, enqueue, edit, decide, close, flush, pull, sync };
}

module.exports = { openClient };
