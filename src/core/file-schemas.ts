import { spawnSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { createSecureContext } from 'node:tls';

import Joi from 'joi';

import { nearestExisting } from './disk';
import { codeOf, isRecord, reasonOf } from './values';

/** The path of a file with a certificate chain as PEM. */
export const certificateFile = pathSchema('is no certificate', (file) => {
  const content = readable(file);
  if (!content) return;
  parse(() => new X509Certificate(content));
  try {
    // Checks the whole chain and the lengths of its keys.
    createSecureContext({ cert: content });
  } catch (error) {
    const reason = isRecord(error) && typeof error['reason'] === 'string' ? error['reason'] : '';
    throw new Error(`OpenSSL refuses the chain in it (${reason || reasonOf(error)})`, {
      cause: error,
    });
  }
});

/** The path of a file with a private key as PEM. */
export const privateKeyFile = pathSchema('is no private key', (file) => {
  const content = readable(file);
  if (content) parse(() => createPrivateKey(content));
});

/** Whether a key belongs to a certificate; true if they may not be read. */
export function isPair(certFile: string, keyFile: string): boolean {
  const cert = readable(certFile);
  const key = readable(keyFile);
  if (!cert || !key) return true;
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
}

/** Why the certificate in a PEM chain is not valid at present, after its name; undefined if it is. */
export function validityFault(content: Buffer): string | undefined {
  const { validFrom, validTo } = new X509Certificate(content);
  const day = (moment: string): string => new Date(moment).toISOString().slice(0, 10);
  if (Date.parse(validFrom) > Date.now()) return `is not valid before ${day(validFrom)}`;
  return Date.parse(validTo) < Date.now() ? `expired on ${day(validTo)}` : undefined;
}

/** OpenSSL's messages about invalid PEM mean nothing to people. */
function parse(read: () => unknown): void {
  try {
    read();
  } catch {
    throw new Error('the file has none in PEM format without a password');
  }
}

/** The content of a file, or undefined without permission: users of commands may not read keys. */
function readable(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error;
    return undefined;
  }
}

/** Time-out of a program that prints its version. */
export const VERSION_MS = 15_000;

/** The path of a mongod that runs on this machine. */
export const mongodFile = pathSchema('is not a mongod that can be run', (file) => {
  accessSync(file, constants.X_OK);
  if (!statSync(file).isFile()) throw new Error('it is not a file');
  const { error, stdout, stderr } = spawnSync(path.resolve(file), ['--version'], {
    encoding: 'utf8',
    timeout: VERSION_MS,
  });
  if (error) throw error;
  if (/^db version v\d/m.test(stdout)) return;
  throw new Error(stderr.trim().split('\n')[0] || 'it does not print the version of one');
});

/** The path of a folder that is writable, or can be created. */
export const writableFolder = pathSchema('is not a folder that can be written to', (folder) => {
  const existing = nearestExisting(path.resolve(folder));
  if (!statSync(existing).isDirectory()) throw new Error(`${existing} is not a folder`);
  accessSync(existing, constants.W_OK | constants.X_OK);
});

/** @param check throws if the path is not valid */
function pathSchema(fault: string, check: (file: string) => void): Joi.StringSchema {
  const messages = { custom: `{{#label}} ${fault}: {{#reason}}` };
  return Joi.string().custom((file: string, helpers) => {
    try {
      check(file);
      return file;
    } catch (error) {
      return helpers.message(messages, { reason: reasonOf(error) });
    }
  });
}
