/** What one server allows its clients, so that none of them can use it up. Times in milliseconds. */
export interface HttpLimits {
  /** How long the TLS handshake may take. */
  handshakeTimeout: number;
  /** How long the head of a request may take to arrive over HTTP/1.1. */
  headersTimeout: number;
  /** How long a whole request may take to arrive. */
  requestTimeout: number;
  /** How long a connection may be open without a request in progress, whatever it sends meanwhile. */
  idleTimeout: number;
  /** How long a client may take nothing of an answer that waits for it. */
  stallTimeout: number;
  /** How long a client has to read an answer after which its connection is closed. */
  lingerTimeout: number;
  /** How often the times above are checked. */
  checkInterval: number;
  /** How many requests a connection may have at once: sent ahead in HTTP/1.1, streams in HTTP/2. */
  maxRequestsPerConnection: number;
  /** How many connections may be open at once. */
  maxConnections: number;
}

/** What 400 MB of memory hold without trouble. */
const MAX_CONNECTIONS = 10_000;
/** How many connections a port has that is for one transport, and for operators. */
export const OWN_PORT_CONNECTIONS = 32;
/** Descriptors that connections leave to MongoDB, Redis, files, a port of its own and the program. */
const RESERVED_DESCRIPTORS = 128 + OWN_PORT_CONNECTIONS;
/** How many more connections are accepted in order to be refused, as a share of the others. */
export const REFUSED_SHARE = 0.01;
const MIN_CONNECTIONS = 16;

/** The limits where none are given: as many connections as the process may have files open for. */
export function defaultLimits(): HttpLimits {
  return {
    handshakeTimeout: 10_000,
    headersTimeout: 20_000,
    requestTimeout: 60_000,
    idleTimeout: 60_000,
    stallTimeout: 30_000,
    lingerTimeout: 1000,
    checkInterval: 5000,
    maxRequestsPerConnection: 100,
    maxConnections: Math.min(
      MAX_CONNECTIONS,
      Math.max(
        MIN_CONNECTIONS,
        Math.floor((descriptorLimit() - RESERVED_DESCRIPTORS) / (1 + REFUSED_SHARE)),
      ),
    ),
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
