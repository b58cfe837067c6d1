import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Services } from '../../store/services.ts';
import { sentBytes } from './byteBudget.ts';
import type { AnyReply, RawContent } from './call.ts';
import { chooseCoding, compress, isCompressible } from './compress.ts';
import { endIdleReader } from './idleReaders.ts';
import type { Trace } from './pipeline.ts';
import { cutPieces, pieceBytes, spoolAnswer } from './spoolAnswer.ts';
import { findSeen, hashContent, isRead, type Validator, writeTag } from './validators.ts';

/** When to look again for a job that was accepted. */
const retryAfterSeconds = '2';

/** The one way out: every answer, streams included, is sent here. */
export async function respond(services: Pick<Services, 'blobs' | 'config'>, ctx: Context, reply: AnyReply, trace: Trace): Promise<void> {
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
  } else if (content) sendContent(ctx, await holdLittle(services, content, trace), validator);
  else sendNothing(ctx, reply.status);
  endIdleReader(ctx.res, ctx.req.socket, services.config.answers.readerTimeoutMs);
}

/** An answer as it waits for its reader: what is large waits in a file. The room that it takes is given back when it was sent. */
async function holdLittle({ blobs }: Pick<Services, 'blobs'>, content: RawContent, { room }: Trace): Promise<RawContent> {
  const { type, data } = content;
  if (data instanceof Readable) {
    room.keep(sentBytes);
    return content;
  }
  const size = Buffer.byteLength(data);
  if (size <= sentBytes) {
    room.settle(size);
    return content;
  }
  const spooled = await spoolAnswer(blobs, cutPieces(data));
  room.settle(spooled.cost);
  return { type, ...spooled };
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

function sendContent(ctx: Context, { type, data, isOriginal, size = measure(data) }: RawContent, validator: Validator | null): void {
  const coding = chooseCoding(ctx.req, type, size);
  if (validator) ctx.set('ETag', writeTag(validator, coding));
  if (data instanceof Readable) ctx.set('Content-Type', type.startsWith('text/') && !isOriginal ? `${type}; charset=utf-8` : type);
  else ctx.type = type;
  // A reader who takes a piece of a long answer is seen to read.
  const pieces = size > pieceBytes && !(data instanceof Readable) ? Readable.from(cutPieces(data), { objectMode: false }) : data;
  ctx.body = coding ? compress(pieces, coding) : pieces;
  if (coding) {
    ctx.set('Content-Encoding', coding);
    ctx.remove('Content-Length');
  } else if (size < Number.POSITIVE_INFINITY) ctx.length = size;
}

/** Of a stream the size is not known unless it is told. */
function measure(data: RawContent['data']): number {
  return data instanceof Readable ? Number.POSITIVE_INFINITY : Buffer.byteLength(data);
}
