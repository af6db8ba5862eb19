import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The prefix of developer tokens (docs/api.md, "Accounts, tiers, tokens"). */
const TOKEN_PREFIX = 'tnd_mcp_';
/** The prefix of access tokens, which apps get when a person authorizes them. */
export const ACCESS_TOKEN_PREFIX = 'tnd_oat_';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 32;
/** Limits for tokens of any release. */
const MIN_RANDOM_LENGTH = 30;
const MAX_LENGTH = 200;
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^${TOKEN_PREFIX}[0-9A-Za-z]{${MIN_RANDOM_LENGTH + CHECKSUM_LENGTH},}$`);

/**
 * A new token: prefix, random base62 characters, and 6 more of their CRC32, so that a scanner can tell a
 * real token from a typo without the database (docs/api.md, "Accounts, tiers, tokens").
 */
export function makeToken(): string {
  let random = '';
  for (let length = 0; length < RANDOM_LENGTH; length += 1) {
    random += ALPHABET.charAt(randomInt(ALPHABET.length));
  }
  return TOKEN_PREFIX + random + checksum(random);
}

/** Whether a string has the form of a token and its checksum is right. */
export function isWellFormedToken(token: string): boolean {
  if (token.length > MAX_LENGTH || !SHAPE.test(token)) return false;
  const random = token.slice(TOKEN_PREFIX.length, -CHECKSUM_LENGTH);
  return checksum(random) === token.slice(-CHECKSUM_LENGTH);
}

/** Whether a text contains a developer token. */
export function hasToken(text: string): boolean {
  return text.includes(TOKEN_PREFIX);
}

/** Whether a token claims to be an access token of the authorization server. */
export function isAccessToken(token: string): boolean {
  return token.startsWith(ACCESS_TOKEN_PREFIX);
}

/** Whether a token has the format of a JWT, signed or encrypted. */
export function isJwt(token: string): boolean {
  return /^ey[\w-]*(?:\.[\w-]*){2,4}$/.test(token);
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place += 1) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
