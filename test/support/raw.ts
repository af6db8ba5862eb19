import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';

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

function parse(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]),
    headers: Object.fromEntries(headers),
    body: text.slice(end + 4),
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
