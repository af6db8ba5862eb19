// @ts-check
'use strict';

const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');

/** @import { Store } from './types' */

/**
 * Keeps text in memory. An app has a database or file instead and, for its tokens, the Keychain or Keystore.
 *
 * @param {string} [text]
 * @returns {Store}
 */
function memoryStore(text) {
  return { load: () => text, save: (newText) => void (text = newText) };
}

/**
 * Keeps text in a file that only its owner can read.
 *
 * @param {string} file
 * @returns {Store}
 */
function fileStore(file) {
  return {
    load: () => (existsSync(file) ? readFileSync(file, 'utf8') : undefined),
    save: (text) => {
      writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true });
      renameSync(`${file}.new`, file);
    },
  };
}

module.exports = { fileStore, memoryStore };
