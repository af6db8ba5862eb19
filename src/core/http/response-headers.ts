interface ResponseHeader {
  description: string;
  example: string | number;
}

/** The response headers, for the OpenAPI document and for CORS. */
export const RESPONSE_HEADERS = {
  Allow: {
    description: 'The methods that the path takes',
    example: 'HEAD, GET',
  },
  'Cache-Control': {
    description:
      'Only the client may cache the response, and must revalidate it; `no-store` forbids caching',
    example: 'private, no-cache',
  },
  Vary: {
    description: 'The request headers on which the response depends',
    example: 'Authorization, Accept-Encoding',
  },
  ETag: {
    description: 'Identifies the content, for If-None-Match and If-Match',
    example: 'W/"qPZ2sWXL0nKqYV3u"',
  },
  'X-Request-Id': {
    description:
      "The id of the request in the log: the client's own if it sent 1 to 128 plain characters",
    example: '0198e4a2-7c1b-4d6e-9f3a-2b5c8d4e6f10',
  },
  RateLimit: {
    description: 'The calls left in the budget (r), and the seconds until it resets (t)',
    example: '"reads";r=299;t=60',
  },
  'RateLimit-Policy': {
    description: 'The budget: how many calls (q) in how many seconds (w)',
    example: '"reads";q=300;w=60',
  },
  'X-RateLimit-Limit': { description: 'As q of RateLimit-Policy', example: 300 },
  'X-RateLimit-Remaining': { description: 'As r of RateLimit', example: 299 },
  'X-RateLimit-Reset': {
    description: 'When the budget resets, in Unix seconds',
    example: 1_772_357_400,
  },
  'Retry-After': {
    description: 'How many seconds to wait before retrying',
    example: 30,
  },
  'Idempotent-Replayed': {
    description:
      'true if this is the response to an earlier request with the same Idempotency-Key; otherwise missing',
    example: 'true',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate, and what is wrong with the token',
    example: 'Bearer error="invalid_token"',
  },
} as const satisfies Readonly<Record<string, ResponseHeader>>;

export type ResponseHeaderName = keyof typeof RESPONSE_HEADERS;
