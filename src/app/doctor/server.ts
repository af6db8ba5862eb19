import { request as requestByHttp } from 'node:http';
import { request as requestByHttps } from 'node:https';

import { hostSettings } from '../../core/host-settings';
import type { Settings } from '../../core/settings';
import { isRecord } from '../../core/values';
import { fault, type Finding, good, type OfflineCheck } from './check';

const CHECK = 'server';
/** How long the server may take to say how it is; it looks at its own servers for a second. */
const PATIENCE_MS = 5000;

/** What the server of these settings says of itself, where one runs. */
export const server: OfflineCheck = async (settings) => {
  const url = readinessUrl(settings);
  const answer = await ask(url);
  if (!isRecord(answer)) return [good(CHECK, `none answers at ${url.host}`)];
  const { error, warnings = [] } = answer;
  const said = [error, warnings].flat().filter((each) => typeof each === 'string');
  if (said.length === 0) return [good(CHECK, `ready at ${url.host}`)];
  return said.map((each): Finding => fault(CHECK, `The server at ${url.host} says: ${each}`));
};

function readinessUrl(settings: Settings): URL {
  const host = settings.of(hostSettings.host);
  // Those of all addresses are reached by this one too.
  const reached =
    new Map([
      ['0.0.0.0', '127.0.0.1'],
      ['::', '::1'],
    ]).get(host) ?? host;
  const scheme = settings.of(hostSettings.tlsCertFile) === undefined ? 'http' : 'https';
  const name = reached.includes(':') ? `[${reached}]` : reached;
  return new URL(`${scheme}://${name}:${settings.of(hostSettings.port)}/readyz`);
}

/** The JSON at an address; undefined where there is none. */
async function ask(url: URL): Promise<unknown> {
  const text = await new Promise<string>((resolve) => {
    const send = url.protocol === 'https:' ? requestByHttps : requestByHttp;
    // Its certificate names it as clients do, not as it is reached from here.
    const options = { rejectUnauthorized: false, signal: AbortSignal.timeout(PATIENCE_MS) };
    const request = send(url, options, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('end', () => {
        resolve(body);
      });
      response.on('error', () => {
        resolve('');
      });
    });
    request.on('error', () => {
      resolve('');
    });
    request.end();
  });
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
