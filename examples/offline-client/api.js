// @ts-check
'use strict';

/** @import { Answer, Reply, Store, Tokens } from './types' */

/** There is no answer yet: repeat the request later. */
class TryLater extends Error {
  /** @param {number} [seconds] how long to wait, if the server said so */
  constructor(seconds) {
    super('The service cannot be reached.');
    this.seconds = seconds;
  }
}

/** The person must sign in again; until then everything waits. */
class SignInAgain extends Error {}

/** The person may not open the shared garden any more. */
class GardenGone extends Error {}

/**
 * Repeats work until there is an answer.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function keepTrying(work, patience = 10) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TryLater) || tries === patience) throw error;
      const backoff = Math.min(2 ** tries, 60) * (0.5 + Math.random() / 2);
      const seconds = error.seconds ?? backoff;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  }
}

/**
 * Sends requests with a person's tokens.
 *
 * @param {{ url: string, keychain: Store, garden?: string, timeoutMs?: number }} options
 */
function openApi({ url, keychain, garden, timeoutMs = 30_000 }) {
  /** @type {Tokens} */
  const tokens = JSON.parse(keychain.load() ?? '{}');

  /**
   * @param {string} path
   * @param {RequestInit} init
   * @returns {Promise<Answer>}
   * @throws {TryLater}
   */
  async function request(path, init) {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url + path, { ...init, redirect: 'manual', signal }).catch(() => {
      throw new TryLater();
    });
    const { status, headers } = response;
    if (status >= 500 || status === 429) {
      throw new TryLater(Number(headers.get('Retry-After')) || undefined);
    }
    // Neither the page of a hotel's network nor half a response is an answer of the service.
    const isOurs = headers.get('Content-Type')?.startsWith('application/json');
    const json = isOurs ? response.json() : Promise.reject();
    const body = /** @type {Reply} */ (await json.catch(() => null));
    if (body === null && status !== 304) throw new TryLater();
    return { status, headers, body };
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {{ body?: object | undefined, headers?: Record<string, string> }} [options]
   * @throws {TryLater | SignInAgain | GardenGone}
   */
  async function send(method, path, { body, headers } = {}) {
    const attempt = () =>
      request(path, {
        method,
        headers: {
          Authorization: `Bearer ${tokens.access_token}`,
          ...(garden && { Garden: encodeURIComponent(garden) }),
          ...(body && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      });
    const used = tokens.access_token;
    let answer = await attempt();
    if (answer.status === 401) {
      await refresh(used);
      answer = await attempt();
    }
    if (answer.status === 401) throw new SignInAgain(answer.body.error);
    if (answer.body?.code === 'idempotency_conflict') throw new TryLater(1);
    if (answer.body?.code === 'garden_not_found') throw new GardenGone(answer.body.error);
    return answer;
  }

  /** @type {Promise<void> | undefined} */
  let refreshing;

  /**
   * Replaces a token that is no longer valid, once for all requests that used it.
   *
   * @param {string} used
   */
  async function refresh(used) {
    if (tokens.access_token !== used) return;
    refreshing ??= renew().finally(() => (refreshing = undefined));
    await refreshing;
  }

  async function renew() {
    const { client_id = '', refresh_token } = tokens;
    if (refresh_token === undefined) throw new SignInAgain('The token is no longer valid.');
    const form = { grant_type: 'refresh_token', client_id, refresh_token };
    const { status, body } = await request('/oauth/token', {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    if (status === 400 || status === 401) throw new SignInAgain(String(body['error_description']));
    if (status !== 200) throw new TryLater();
    // The old one has ended: store the new one before using it.
    keychain.save(JSON.stringify({ ...tokens, ...body }));
    Object.assign(tokens, body);
  }

  return { send };
}

module.exports = { GardenGone, keepTrying, openApi, SignInAgain, TryLater };
