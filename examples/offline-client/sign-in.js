// @ts-check
'use strict';

const { createHash, randomBytes } = require('node:crypto');
const { once } = require('node:events');
const { createServer } = require('node:http');

/** @import { AddressInfo } from 'node:net' */
/** @import { Tokens } from './types' */

/**
 * Signs a person in, who can also create an account.
 *
 * @param {{
 *   url: string,
 *   clientId: string,
 *   redirectUri: string,
 *   scope: string,
 *   browse: (address: string) => Promise<string>,
 * }} options `browse` opens the system browser, and returns the address to which the server redirects
 * @returns {Promise<Tokens>} for the keychain
 */
async function signIn({ url, clientId: client_id, redirectUri, scope, browse }) {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const asked = new URL('/oauth/authorize', url);
  asked.search = new URLSearchParams({
    ...{ client_id, redirect_uri: redirectUri, response_type: 'code', scope, state },
    ...{ code_challenge: challenge, code_challenge_method: 'S256' },
  }).toString();
  const answer = new URL(await browse(asked.href)).searchParams;
  if (answer.get('state') !== state || answer.get('iss') !== asked.origin) {
    throw new Error('This is not the answer to this sign-in.');
  }
  const code = answer.get('code');
  if (code === null) throw new Error(answer.get('error_description') ?? 'Nobody signed in.');
  const form = { client_id, code, redirect_uri: redirectUri, code_verifier: verifier };
  const response = await fetch(new URL('/oauth/token', url), {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'authorization_code', ...form }),
  });
  if (!response.ok) throw new Error(`The sign-in failed with ${response.status}.`);
  return { client_id, .../** @type {Tokens} */ (await response.json()) };
}

/**
 * The same on a computer, where the browser returns to a port of this program.
 *
 * @param {Omit<Parameters<typeof signIn>[0], 'redirectUri' | 'browse'>} options
 * @param {(address: string) => unknown} open opens the system browser
 */
async function signInOnLoopback(options, open) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {AddressInfo} */ (server.address());
  const origin = `http://127.0.0.1:${port}`;
  /** @type {Promise<string>} */
  const returned = new Promise((resolve) => {
    server.on('request', ({ url = '' }, response) => {
      response.end('You can close this page.');
      if (url.startsWith('/callback?')) resolve(origin + url);
    });
  });
  const browse = (/** @type {string} */ address) => {
    open(address);
    return returned;
  };
  try {
    return await signIn({ ...options, redirectUri: `${origin}/callback`, browse });
  } finally {
    server.close();
  }
}

module.exports = { signIn, signInOnLoopback };
