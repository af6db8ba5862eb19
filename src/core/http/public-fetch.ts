import type { LookupFunction } from 'node:net';

import { isPrivateAddress, lookUpPublic, PrivateAddressError } from './public-address';

type Agent = NonNullable<RequestInit['dispatcher']>;
type AgentClass = new (options: { connect: { lookup: LookupFunction } }) => Agent;

interface Limits {
  /** How long it may take, with the body. */
  timeoutMs: number;
  /** The longest body, in bytes. */
  maxBytes: number;
}

/**
 * Fetches a document that a stranger names: without connecting to an address that is not public, and
 * without following redirects. Only a response of status 200 has a body; one that is too long is cut off,
 * but still too long.
 *
 * @throws Error if there is no response in time
 */
export async function fetchPublic(
  url: string,
  headers: Headers,
  { timeoutMs, maxBytes }: Limits,
): Promise<Response> {
  // One for each call: an agent keeps every origin that it ever connected to.
  const dispatcher = publicAgent();
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    // The guard is in the dispatcher alone, so that tests can lift it by replacing `fetch`.
    const response = await fetch(url, { headers, redirect: 'manual', signal, dispatcher });
    const body = response.status === 200 ? await bodyOf(response, maxBytes) : null;
    return new Response(body, { status: response.status, headers: response.headers });
  } finally {
    await dispatcher.destroy();
  }
}

/** Where Node keeps its own agent, whose class it exports nowhere: from version 26 on, and before. */
const AGENTS = ['undici.globalDispatcher.2', 'undici.globalDispatcher.1'].map(Symbol.for);

/** @throws Error if this version of Node keeps its agent elsewhere */
function publicAgent(): Agent {
  // Node loads it when this is first used.
  void Response;
  // Only undici writes to these.
  const agents = AGENTS.map((place) => Reflect.get(globalThis, place) as Agent | undefined);
  const known = agents.find((each) => each !== undefined);
  if (!known) throw new Error('The agent of fetch was not found.');
  const NodeAgent = known.constructor as AgentClass; // The class of an instance.
  class PublicAgent extends NodeAgent {
    override dispatch(...[options, handler]: Parameters<Agent['dispatch']>): boolean {
      // A socket does not look up an address.
      if (isPrivateAddress(new URL(String(options.origin)))) throw new PrivateAddressError();
      return super.dispatch(options, handler);
    }
  }
  return new PublicAgent({ connect: { lookup: lookUpPublic } });
}

async function bodyOf(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const body: AsyncIterable<Uint8Array> | null = response.body;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    chunks.push(chunk);
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(chunks);
}
