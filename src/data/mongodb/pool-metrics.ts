import type { mongo } from 'mongoose';

import type { Metrics } from '../../core/metrics';

/** Measures the connection pool of a client; must be called before it connects. */
export function measurePool(client: mongo.MongoClient, metrics: Metrics): void {
  let open = 0;
  let inUse = 0;
  let waiting = 0;
  client
    .on('connectionCreated', () => (open += 1))
    .on('connectionClosed', () => (open -= 1))
    .on('connectionCheckOutStarted', () => (waiting += 1))
    .on('connectionCheckOutFailed', () => (waiting -= 1))
    .on('connectionCheckedOut', () => {
      waiting -= 1;
      inUse += 1;
    })
    .on('connectionCheckedIn', () => (inUse -= 1));
  metrics.reading({
    name: 'mongodb_connections',
    help: 'Connections to MongoDB that are open, and that are in use',
    label: 'state',
    read: () => ({ open, in_use: inUse }),
  });
  metrics.reading({
    name: 'mongodb_connection_waiters',
    help: 'Commands waiting for a connection to MongoDB',
    read: () => waiting,
  });
}
