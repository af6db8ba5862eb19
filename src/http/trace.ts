import { randomUUID } from 'node:crypto';

/** Where a request belongs in a distributed trace (W3C Trace Context). */
interface Trace {
  traceId: string;
  /** Of the work on this request. */
  spanId: string;
  /** Of the caller's work that the request is part of. */
  parentSpanId?: string;
}

const SPAN_DIGITS = 16;
/** Later versions may add fields; the first has these four only. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** Continues the trace of a `traceparent` header, or begins one where that is missing or not valid. */
export function traceOf(traceparent: string | undefined): Trace {
  const spanId = randomHex().slice(-SPAN_DIGITS);
  const [, version, traceId, parentSpanId, more] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || parentSpanId === undefined || (version === '00' && more)) {
    return { traceId: randomHex(), spanId };
  }
  if (/^0+$/.test(traceId) || /^0+$/.test(parentSpanId)) return traceOf(undefined);
  return { traceId, spanId, parentSpanId };
}

/** 32 digits, of random bytes that Node has in store: fresh ones cost three times as much. */
function randomHex(): string {
  return randomUUID().replaceAll('-', '');
}
