import { createServer } from 'node:http';

import pino from 'pino';

import { listening } from '../support/listening';
import { send } from '../support/raw';
import { App, loadPlugins, Conformance } from '../support/program';

// Every service under test checks its responses like this; these tests show that the check finds faults.

const app = new App({ plugins: loadPlugins(), env: {}, log: pino({ level: 'silent' }) });

/** The faults in the responses of a server that responds to everything like this. */
async function faultsOf(
  [method, path]: [method: string, path: string],
  { status, type, body }: { status: number; type: string; body: string },
): Promise<string[]> {
  const conformance = new Conformance(app.description);
  const listener = conformance.watch(async (_request, response) => {
    response.statusCode = status;
    response.setHeader('Content-Type', type);
    response.write(body.slice(0, 5));
    response.end(body.slice(5));
  });
  const server = createServer((request, response) => void listener(request, response));
  await send(`http://127.0.0.1:${await listening(server)}`, method, path);
  await new Promise((resolve) => server.close(resolve));
  return conformance.faults;
}

const json = (status: number, value: unknown) => ({
  status,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
});
const GET_HEALTH: [string, string] = ['GET', '/healthz'];
const NOT_FOUND = { error: 'Path not found.', code: 'not_found' };

test.each<[string, [string, string], ReturnType<typeof json>]>([
  ['what is declared', GET_HEALTH, json(200, { status: 'ok' })],
  ['404 of a path that is not there', ['GET', '/nowhere'], json(404, NOT_FOUND)],
  [
    '405 of another method',
    ['PUT', '/healthz'],
    json(405, { error: 'This path allows only GET.', code: 'method_not_allowed' }),
  ],
])('%s conforms', async (_what, request, answer) => {
  expect(await faultsOf(request, answer)).toEqual([]);
});

test.each<[string, [string, string], ReturnType<typeof json>, string]>([
  ['another status', GET_HEALTH, json(418, { status: 'ok' }), 'is not declared'],
  ['a field that is missing', GET_HEALTH, json(200, {}), "required property 'status'"],
  ['a field too many', GET_HEALTH, json(200, { status: 'ok', a: 1 }), 'additional properties'],
  ['another media type', GET_HEALTH, { ...json(200, {}), type: 'text/plain' }, 'the media type'],
  ['a code of no list', ['GET', '/no'], json(404, { ...NOT_FOUND, code: 'x' }), 'allowed values'],
  ['a good answer where nothing is', ['GET', '/nowhere'], json(200, {}), 'of other paths'],
  ['a good answer to another method', ['PUT', '/healthz'], json(200, {}), 'of other methods'],
])('the check finds %s', async (_what, request, answer, fault) => {
  expect(await faultsOf(request, answer)).toEqual([expect.stringContaining(fault)]);
});
