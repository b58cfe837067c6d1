import { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { requireScopes } from '../../activities/access.ts';
import { refuseKind } from '../../activities/identity/refusals.ts';
import type { Principal } from '../../core/access/principal.ts';
import { LongNumber } from '../../core/cells/givenRow.ts';
import { parseExactly } from '../../core/cells/jsonReader.ts';
import { answerTooLarge } from '../../core/errors.ts';
import { withWorkMemory } from '../../store/workMemory.ts';
import { exactFields, type ReadBody } from '../http/body.ts';
import type { AnyReply, Handlers } from '../http/call.ts';
import type { OperationId } from '../http/contract.ts';
import { type ApiParts, answerRequest, type Incoming, type Trace } from '../http/pipeline.ts';

/** An operation of the contract, as a part of a request that was authenticated and counted. */
export interface Asked {
  params?: Record<string, string>;
  query?: Record<string, unknown>;
  /** Numbers with more digits than a double keeps are LongNumber. */
  body?: Record<string, unknown>;
  idempotencyKey?: string;
}

export type Ask = (id: OperationId, asked: Asked) => Promise<{ status: number; body: unknown }>;

interface Asker {
  principal: Principal;
  requestId: string;
  address: string;
}

const mostBytes = 8 * 1024 * 1024;

/**
 * Runs operations for an agent exactly as for a request of their own: scopes, validation, idempotency and the handler are the
 * same. Nothing is cancelled when the connection ends, as the protocol wants it.
 */
export function makeAsk(parts: ApiParts, handlers: Handlers, { principal, requestId, address }: Asker): Ask {
  return async (id, asked) => {
    const operation = parts.contract.operations.find((each) => each.id === id);
    if (!operation) throw new Error(`there is no operation ${id}`);
    if (!operation.accepts.includes(principal.kind)) throw refuseKind(principal.kind, operation.accepts);
    requireScopes(principal, operation.scopes);
    const handler = handlers[id] as never;
    const { answers, work } = parts.budgets;
    const trace: Trace = { requestId, principal, headers: {}, room: answers.open(principal.userId), work: work.open(principal.userId) };
    const incoming = describeIncoming(operation.method, operation.path, address, asked);
    try {
      const answer = () => answerRequest(parts, operation, handler, incoming, trace, { body: describeBody(asked.body), sent: [] });
      const reply = await withWorkMemory((bytes) => trace.work.take(bytes), answer);
      return { status: reply.status, body: await readReply(reply) };
    } finally {
      trace.room.release();
      trace.work.release();
    }
  };
}

function describeIncoming(
  method: string,
  path: string,
  address: string,
  { params = {}, query = {}, body, idempotencyKey }: Asked,
): Incoming {
  const headers: Record<string, string> = {
    accept: '*/*',
    ...(body ? { 'content-type': 'application/json' } : {}),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const each of [value].flat()) if (each !== undefined) search.append(name, String(each));
  const querystring = search.toString();
  const req = { method: method.toUpperCase(), headers } as Incoming['req'];
  return {
    method: method.toUpperCase(),
    url: `${path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))}?${querystring}`,
    querystring,
    params,
    headers,
    ip: address,
    req,
    // Nobody is connected to it, so it never closes.
    res: new ServerResponse(req),
    get: (name) => headers[name.toLowerCase()] ?? '',
    vary() {},
  };
}

function describeBody(body: Record<string, unknown> | undefined): ReadBody | undefined {
  if (!body) return undefined;
  const value = writeNumbers(body, Number) as Record<string, unknown>;
  const print = JSON.stringify(writeNumbers(body, String));
  const exact = Object.fromEntries(exactFields.filter((name) => Object.hasOwn(body, name)).map((name) => [name, body[name]]));
  return { value, exact, size: print.length, print, file: null };
}

async function readReply({ body, raw }: AnyReply): Promise<unknown> {
  if (!raw) return body;
  const data = raw.data instanceof Readable ? await collect(raw.data) : raw.data;
  if (raw.type !== 'application/json') return data;
  // Most readers of JSON would round long numbers, so they come as texts.
  return writeNumbers(parseExactly(String(data)), String);
}

async function collect(stream: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let left = mostBytes;
  for await (const piece of stream) {
    left -= (piece as Buffer).length;
    if (left < 0) throw answerTooLarge(mostBytes, 'Ask for fewer rows or columns.');
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

/** A copy with every LongNumber as something else. */
export function writeNumbers(node: unknown, write: (text: string) => unknown): unknown {
  if (node instanceof LongNumber) return write(node.text);
  if (Array.isArray(node)) return node.map((each) => writeNumbers(each, write));
  if (node === null || typeof node !== 'object') return node;
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, writeNumbers(value, write)]));
}
