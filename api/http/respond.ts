import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { AnyReply, RawContent } from './call.ts';
import { chooseCoding, compress, isCompressible } from './compress.ts';
import type { Trace } from './pipeline.ts';
import { findSeen, hashContent, isRead, type Validator, writeTag } from './validators.ts';

/** When to look again for a job that was accepted. */
const retryAfterSeconds = '2';

/** The one way out: every answer, streams included, is sent here. */
export function respond(ctx: Context, reply: AnyReply, trace: Trace): void {
  const content = reply.raw ?? (reply.body === undefined ? null : { type: 'application/json', data: JSON.stringify(reply.body) });
  ctx.status = reply.status;
  ctx.set('X-Request-Id', trace.requestId);
  if (reply.status === 202) ctx.set('Retry-After', retryAfterSeconds);
  const validator = reply.validator && 'print' in reply.validator ? reply.validator : printContent(ctx, reply, content);
  const seen = validator && findSeen(ctx.req, validator);
  const { Vary = [], ...headers } = { ...trace.headers, ...reply.headers };
  ctx.set(headers);
  ctx.vary(Vary);
  if (seen || (content && isCompressible(content.type))) ctx.vary('Accept-Encoding');
  if (seen) {
    if (content?.data instanceof Readable) content.data.destroy();
    ctx.set('ETag', seen);
    sendNothing(ctx, 304);
  } else if (content) sendContent(ctx, content, validator);
  else sendNothing(ctx, reply.status);
}

/** What was read and is at hand is known by its bytes; of a stream they are not known yet. */
function printContent(ctx: Context, { status, validator }: AnyReply, content: RawContent | null): Validator | null {
  if (!isRead(ctx.req) || status !== 200 || !content || content.data instanceof Readable) return null;
  return { ...validator, print: hashContent(content.data) };
}

function sendNothing(ctx: Context, status: number): void {
  ctx.body = null;
  ctx.status = status;
}

function sendContent(ctx: Context, { type, data, isOriginal }: RawContent, validator: Validator | null): void {
  const coding = chooseCoding(ctx.req, type, data);
  if (validator) ctx.set('ETag', writeTag(validator, coding));
  if (data instanceof Readable) ctx.set('Content-Type', type.startsWith('text/') && !isOriginal ? `${type}; charset=utf-8` : type);
  else ctx.type = type;
  ctx.body = coding ? compress(data, coding) : data;
  if (!coding) return;
  ctx.set('Content-Encoding', coding);
  ctx.remove('Content-Length');
}
