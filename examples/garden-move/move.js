'use strict';
// FROM_TOKEN=… TO_TOKEN=… node move.js https://from.example.com https://to.example.com
// Copies a garden into an empty account. If it is interrupted, run it again: it adds what is missing.

const { setTimeout } = require('node:timers/promises');

const [, , from, to = from] = process.argv;
const { FROM_TOKEN, TO_TOKEN } = process.env;
const ATTEMPTS = 10;
const TIMEOUT_MS = 300_000; // A large garden is read as a whole before its first part.

/** Sends a request until it gets through; waits as long as a busy server asks for. */
async function send(url, token, options) {
  for (let attempt = 1; ; attempt += 1) {
    let seconds = attempt;
    try {
      const headers = { ...options.headers, Authorization: `Bearer ${token}` };
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await fetch(url, { ...options, headers, signal });
      // With the whole body, since a connection may break within it.
      const text = await response.text();
      if (response.status !== 429 && response.status < 500) return { response, text };
      if (attempt === ATTEMPTS) throw new Error(`${url}: ${text}`);
      seconds = Number(response.headers.get('Retry-After') ?? attempt);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
    await setTimeout(seconds * 1000);
  }
}

/** The ETag of each part that was copied. */
const tags = new Map();

/** Copies the parts that have changed since they were copied; returns whether there were any. */
async function copyChanges() {
  let isChanged = false;
  for (let part = 1, parts = Math.max(1, tags.size); part <= parts; part += 1) {
    const known = tags.get(part);
    const exported = await send(`${from}/api/export?part=${part}`, FROM_TOKEN, {
      headers: known ? { 'If-None-Match': known } : {},
    });
    if (exported.response.status === 304) continue;
    isChanged = true;
    // The garden has fewer parts now.
    if (exported.response.status === 400 && part > 1) break;
    if (!exported.response.ok) throw new Error(exported.text);
    parts = JSON.parse(exported.text).parts;
    const imported = await send(`${to}/api/import`, TO_TOKEN, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: exported.text,
    });
    if (!imported.response.ok) throw new Error(imported.text);
    tags.set(part, exported.response.headers.get('ETag'));
    console.log(`Part ${part} of ${parts}: ${imported.text}`);
  }
  return isChanged;
}

// Each part is as of another moment: once none has changed, nothing is missing.
(async () => {
  while (await copyChanges());
})().catch((error) => {
  console.error(String(error));
  process.exitCode = 1;
});
