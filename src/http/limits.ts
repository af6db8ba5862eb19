/** Limits for clients, under Node's names; times in milliseconds. */
export interface HttpLimits {
  /** How long the TLS handshake may take. */
  handshakeTimeout: number;
  /** How long the headers of a request may take to arrive. */
  headersTimeout: number;
  /** How long a whole request may take to arrive. */
  requestTimeout: number;
  /** How long an idle connection is kept open after a response. */
  keepAliveTimeout: number;
  /** How long a connection with a request may be inactive, as when the client does not read. */
  timeout: number;
  /** How often Node checks for requests that arrive too slowly. */
  connectionsCheckingInterval: number;
  /** How many requests a connection may carry; the last response has `Connection: close`. */
  maxRequestsPerSocket: number;
  /** How many connections may be open. Node closes further ones and emits `drop`. */
  maxConnections: number;
}

/** So many connections fit into 400 MB of memory. */
const MAX_CONNECTIONS = 10_000;
/** The limit of connections on a port that serves a single protocol to operators, such as metrics. */
export const OWN_PORT_CONNECTIONS = 32;
/** Descriptors reserved for MongoDB, Redis, files and a port for operators. */
const RESERVED_DESCRIPTORS = 128 + OWN_PORT_CONNECTIONS;
const MIN_CONNECTIONS = 16;

/** Returns the default limits. The descriptor limit of the process bounds the connections. */
export function defaultLimits(): HttpLimits {
  const left = descriptorLimit() - RESERVED_DESCRIPTORS;
  return {
    handshakeTimeout: 10_000,
    headersTimeout: 20_000,
    requestTimeout: 60_000,
    keepAliveTimeout: 60_000,
    timeout: 30_000,
    connectionsCheckingInterval: 5000,
    maxRequestsPerSocket: 1000,
    maxConnections: Math.min(MAX_CONNECTIONS, Math.max(MIN_CONNECTIONS, left)),
  };
}

function descriptorLimit(): number {
  // Node does not type its report. A limit is a number or "unlimited".
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | string } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Infinity;
}
