import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

import { withoutDetails } from './bodies';
import { IDLE_MS } from './client';

/** A response as it was received. */
export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A response with a body in any format. */
export interface BinaryAnswer extends RawAnswer {
  bytes: Buffer;
}

interface RawRequest {
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** By default a new connection, which ends with the response. */
  agent?: Agent;
}

/** For requests that can share connections, since a new one costs more than most requests. */
export const keptConnections = new Agent({ keepAlive: true, timeout: IDLE_MS });

/** Sends a request with no header added except Host. */
export function send(
  url: string,
  method: string,
  path: string,
  { headers = {}, body, agent }: RawRequest = {},
): Promise<BinaryAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, path, headers, agent: agent ?? false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        const { statusCode: status = 0, headers: answered } = response;
        resolve({ status, headers: answered, body: bytes.toString(), bytes });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends all but the end of a request, like {@link send}; the function that it returns sends the rest. */
export function begin(
  url: string,
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body: string },
): () => Promise<RawAnswer> {
  const length = String(Buffer.byteLength(body));
  const sent = request(url, {
    method,
    path,
    headers: { ...headers, 'Content-Length': length },
    agent: false,
  });
  const answered = new Promise<RawAnswer>((resolve, reject) => {
    sent.on('response', (response) => {
      const { statusCode: status = 0, headers: of } = response;
      text(response).then((whole) => {
        resolve({ status, headers: of, body: whole });
      }, reject);
    });
    sent.on('error', reject);
  });
  answered.catch(() => undefined);
  sent.write(body.slice(0, -1));
  return () => {
    sent.end(body.slice(-1));
    return answered;
  };
}

/** Sends bytes unchanged, and reads until the server closes the connection. */
export function exchange(url: string, ...parts: (string | Buffer)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(parse(Buffer.concat(chunks).toString()));
    });
    for (const part of parts) socket.write(part);
  });
}

function parse(whole: string): RawAnswer {
  const end = whole.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = whole.slice(0, end).split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]),
    headers: Object.fromEntries(headers),
    body: whole.slice(end + 4),
  };
}

/** Requires a body to be exactly the Error body (docs/api.md, "Errors"), and returns it. */
export function errorOf(answer: { body: string }): { error: string; code: string } {
  const body = withoutDetails(JSON.parse(answer.body));
  expect(body).toEqual({
    error: expect.stringMatching(/^\S.*\.$/) as string,
    code: expect.any(String) as string,
  });
  // Just checked.
  return body as { error: string; code: string };
}
