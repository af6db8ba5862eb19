import type { Context } from 'koa';

import { CODINGS, type Coding, type Content, MIN_COMPRESSED, namesEtag } from '../core/content';

/** Answers with content, compressed where the client takes that, or with 304 where it has it. */
export async function sendContent(ctx: Context, content: Content, type: string): Promise<void> {
  const coding = codingFor(ctx, content.body.length);
  ctx.set('ETag', coding === undefined ? content.etag : `W/${content.etag}`);
  ctx.vary('Accept-Encoding');
  // Koa's own comparison never finds anything known to a client that also sends `no-cache`.
  if (namesEtag(ctx.get('If-None-Match'), content.etag)) {
    ctx.status = 304;
    return;
  }
  const body = coding === undefined ? content.body : await content.compressed(coding);
  ctx.type = type;
  if (coding !== undefined) ctx.set('Content-Encoding', coding);
  ctx.body = body;
}

/** How a body of this length is compressed for the client, if at all. */
export function codingFor(ctx: Context, length: number): Coding | undefined {
  if (length < MIN_COMPRESSED) return undefined;
  const accepted = ctx.acceptsEncodings();
  return CODINGS.find((each) => accepted.includes(each));
}
