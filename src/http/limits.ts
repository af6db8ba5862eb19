/** What a server allows its clients, by the names that Node has for it; times in milliseconds. */
export interface HttpLimits {
  /** How long the TLS handshake may take. */
  handshakeTimeout: number;
  /** How long the head of a request may take to arrive. */
  headersTimeout: number;
  /** How long a whole request may take to arrive. */
  requestTimeout: number;
  /** How long a connection is kept after an answer. */
  keepAliveTimeout: number;
  /** How long nothing may move on a connection that has a request: a client that reads nothing. */
  timeout: number;
  /** How often Node checks how slowly requests arrive. */
  connectionsCheckingInterval: number;
  /** How many requests a connection may carry; the last answer says `Connection: close`. */
  maxRequestsPerSocket: number;
  /** How many connections may be open. Node closes those above it, with the event `drop`. */
  maxConnections: number;
}

/** What 400 MB of memory hold without trouble. */
const MAX_CONNECTIONS = 10_000;
/** How many connections a port has that is for one transport, and for operators. */
export const OWN_PORT_CONNECTIONS = 32;
/** Descriptors that connections leave to MongoDB, Redis, files, a port of its own and the program. */
const RESERVED_DESCRIPTORS = 128 + OWN_PORT_CONNECTIONS;
const MIN_CONNECTIONS = 16;

/** The limits where none are given: as many connections as the process may open files. */
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

/** How many descriptors the process may have open. */
function descriptorLimit(): number {
  // The part of Node's report that this reads; a limit is a number or "unlimited".
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft: number | string } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Infinity;
}
