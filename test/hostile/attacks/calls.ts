import { randomUUID } from 'node:crypto';

import { DAY_MS } from '../../../src/core/time';
import { LARGEST_PLANT } from '../../support/largest';
import { ahead, type Attack, inTurn, type Message, type Target } from './attack';

const largestPage = ({ plantId }: Target): Message => ({
  path: `/api/plants/${plantId}/events?limit=100`,
});
const post = (path: string, body: object | string, headers?: Record<string, string>): Message => ({
  method: 'POST',
  path,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  ...(headers ? { headers } : {}),
});
const callTool = (name: string, given: object): Message =>
  post('/api/mcp', {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: given },
  });
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const manyFields = JSON.stringify(
  Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [`f${index}`, index])),
);
const KEY = randomUUID();

/** The worst that an account can do over REST and with tools. */
export const CALL_ATTACKS: Record<string, Attack> = {
  'largest pages, read': inTurn((_, target) => largestPage(target)),
  'largest pages, each another': inTurn((index, { plantId }) => ({
    path: `/api/plants/${plantId}/events?limit=${100 - (index % 90)}`,
  })),
  'largest pages, read slowly': ahead(20, largestPage, { everyMs: 50 }),
  'largest pages, not read': ahead(20, largestPage),
  'all plants, not read': ahead(20, () => ({ path: '/api/plants' })),
  'largest pages by tool': inTurn((_, { plantId }) =>
    callTool('list_events', { id: plantId, limit: 100 }),
  ),
  'largest pages by tool, not read': ahead(20, ({ plantId }) =>
    callTool('list_events', { id: plantId, limit: 100 }),
  ),
  'tools, not read': ahead(20, () => callTool('list_plants', {})),
  'deep JSON': inTurn(() => post('/api/plants', `{"name":${nested(50_000)}}`)),
  'deep JSON by tool': inTurn(() => post('/api/mcp', nested(50_000))),
  'bodies full of faults': inTurn(() => post('/api/plants', manyFields)),
  'bodies that are no JSON': inTurn(() => post('/api/plants', `{"name":"${'x'.repeat(100_000)}`)),
  'small requests sent ahead': ahead(100, () => ({ path: '/api/locations' }), { everyMs: 1 }),
  'keys with large answers': inTurn((index, { plantId }) =>
    post(
      `/api/plants/${plantId}/events`,
      { text: '\u0001'.repeat(2000) },
      { 'idempotency-key': `${KEY} ${index % 10}` },
    ),
  ),
  'cursors that are made up': inTurn((index, { plantId }) => ({
    path: `/api/plants/${plantId}/events?cursor=${Buffer.alloc(3000, index).toString('base64url')}`,
  })),
  'insights over thousands of days': inTurn((index, { plantId }) =>
    index % 2 === 0
      ? post(`/api/plants/${plantId}/events`, {
          occurredAt: new Date(Math.floor(Math.random() * 20_000) * DAY_MS).toISOString(),
        })
      : { path: '/api/insights' },
  ),
  'insights of all time': inTurn((index) => ({
    path: `/api/insights?from=000${1 + (index % 9)}-01-01&to=9999-12-31`,
  })),
  'logs of the care of many plants': inTurn((_, { photoIds }) =>
    post('/api/events', { location: LARGEST_PLANT.location, type: 'watered', photoIds }),
  ),
  'logs of the care of many plants, not read': ahead(20, ({ photoIds }) =>
    post('/api/events', { location: LARGEST_PLANT.location, type: 'watered', photoIds }),
  ),
  'logs of the care of many plants by tool': inTurn((_, { photoIds }) =>
    callTool('log_care', { location: LARGEST_PLANT.location, type: 'watered', photoIds }),
  ),
  'more ids than there may be': inTurn((_, { plantId }) =>
    post(`/api/plants/${plantId}/events`, {
      photoIds: Array.from({ length: 2500 }, () => plantId),
    }),
  ),
  'a thousand query parameters': inTurn(() => ({
    path: `/api/plants?${Array.from({ length: 1000 }, (_, index) => `a${index}=1`).join('&')}`,
  })),
  'searches for what is not there': inTurn((index) => ({ path: `/api/events?q=none-${index}` })),
  'all changes': inTurn(() => ({ path: '/api/changes?limit=500' })),
  'largest pages, compressed': inTurn((index, { plantId }) => ({
    path: `/api/plants/${plantId}/events?limit=${100 - (index % 90)}`,
    headers: { 'accept-encoding': 'br' },
  })),
  'another time zone each time': inTurn((index) => ({
    ...post('/api/account', { timezone: index % 2 === 0 ? 'Asia/Tokyo' : 'America/New_York' }),
    method: 'PATCH',
  })),
  'tools that there are not': inTurn(() => callTool('none', {})),
  'deep capabilities of a tool client': inTurn(() =>
    post(
      '/api/mcp',
      `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":${nested(45_000)}}}`,
    ),
  ),
  'deep pings': inTurn(() =>
    post('/api/mcp', `{"jsonrpc":"2.0","id":1,"method":"ping","params":${nested(45_000)}}`),
  ),
};
