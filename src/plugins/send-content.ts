import type { Context } from 'koa';

import {
  CODINGS,
  type Coding,
  type Content,
  MIN_COMPRESSED,
  namesEtag,
} from '../core/http/content';

/** Responds with content, compressed if the client accepts that, or with 304 if it has the content. */
export async function sendContent(ctx: Context, content: Content): Promise<void> {
  const coding = codingFor(ctx, content.body.length);
  setEtag(ctx, content.etag, coding);
  // Koa's own comparison never matches if the client also sends `no-cache`.
  if (namesEtag(ctx.get('If-None-Match'), content.etag)) {
    ctx.status = 304;
    return;
  }
  const body = coding === undefined ? content.body : await content.compressed(coding);
  ctx.type = content.type;
  if (coding !== undefined) ctx.set('Content-Encoding', coding);
  ctx.body = body;
}

/** Sets the ETag of a response, a weak one if it is compressed. */
export function setEtag(ctx: Context, etag: string, coding: Coding | undefined): void {
  ctx.set('ETag', coding === undefined ? etag : `W/${etag}`);
  ctx.vary('Accept-Encoding');
}

/** The content coding for a body of this length that the client prefers (RFC 9110, 12.5.3), if any. */
export function codingFor(ctx: Context, length: number): Coding | undefined {
  if (length < MIN_COMPRESSED) return undefined;
  const header = ctx.get('Accept-Encoding').toLowerCase();
  const qualities = new Map(header.split(',').map(qualityOf));
  const wanted = (coding: string): number => qualities.get(coding) ?? qualities.get('*') ?? 0;
  const [best, next] = CODINGS;
  const coding = wanted(next) > wanted(best) ? next : best;
  return wanted(coding) > 0 && wanted(coding) >= (qualities.get('identity') ?? 0)
    ? coding
    : undefined;
}

/** A member of Accept-Encoding with its quality, from 0 (not acceptable) to 1. */
function qualityOf(member: string): [coding: string, quality: number] {
  const [coding = '', ...parameters] = member.split(';').map((part) => part.trim());
  const quality = parameters.find((each) => each.startsWith('q='));
  return [coding, quality === undefined ? 1 : Number(quality.slice(2)) || 0];
}
