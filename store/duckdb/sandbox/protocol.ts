import type { Analysis } from '../../../core/sql/analyze.ts';
import type { KnownTable } from '../../../core/sql/checkTree.ts';
import type { Tail } from '../relation.ts';

/** What the service and a query process say to each other, over one socket, a request and its reply at a time. */

/** JSON's scalars, and lists of them. */
export type Scalar = string | number | boolean | null;
export type Params = Record<string, Scalar | Scalar[]>;

export interface ResultColumn {
  name: string;
  /** DuckDB's name of the type. */
  type: string;
}

export interface LoadedRelation {
  name: string;
  columns: string[];
  /** The SELECT that makes it, over paths as the process sees them. */
  select: string;
  /** Loaded before SQL of others runs, and its files are then taken away. */
  governed: boolean;
  tail: (Tail & { name: string }) | null;
}

export interface CheckRequest {
  op: 'check';
  sql: string;
  tables: KnownTable[];
}

export interface ValidateRequest {
  op: 'validate';
  sql: string;
  params: Params;
  tables: { name: string; columns: ResultColumn[] }[];
  timeoutMs: number;
}

/**
 * Up to three steps in one go, each of them left out with null. A query that does not pass the check goes no further; a
 * stop after loading lets the service take files away before the rest.
 */
export interface RunRequest {
  op: 'run';
  sql: string;
  params: Params;
  /** The tables that the SQL may name. */
  check: KnownTable[] | null;
  /** After a check, only what the query reads is loaded; where it reads a table that is not here, nothing is done. */
  load: LoadedRelation[] | null;
  execute: ExecuteStep | null;
  timeoutMs: number;
}

export interface ExecuteStep {
  pageLimit: number;
  maxPageBytes: number;
  maxRows: number;
  maxBytes: number;
  /** Name of the file to write the whole result to; null: only the first page is wanted. */
  resultFile: string | null;
  /** A file of no more than this comes with the reply instead. */
  inlineBytes: number;
}

export type Request = CheckRequest | ValidateRequest | RunRequest;

export interface Executed {
  columns: ResultColumn[];
  rowCount: number;
  more: boolean;
  elapsedMs: number;
  /** Of the result's file, if it comes with the reply; null if it lies where it was asked for. */
  contentBytes: number | null;
}

export interface Replies {
  check: { analysis: Analysis; normalised: string | null };
  validate: { analysis: Analysis; columns: ResultColumn[] };
  /** The frame's body is the page, and behind it the result's file if that is small. */
  run: { analysis: Analysis | null; executed: Executed | null };
}

/** `failed`: the query's own fault. `broken`: ours; its text goes to the log and nowhere else. */
export interface ChildError {
  kind: 'failed' | 'too-large' | 'timeout' | 'broken';
  message: string;
  line: number | null;
  column: number | null;
}

export type Reply<Op extends keyof Replies = keyof Replies> = { ok: true; value: Replies[Op] } | { ok: false; error: ChildError };

export interface Frame {
  header: unknown;
  body: Buffer;
}

/** Between the rows of a page. JSON as the engine writes it has no line break of its own, so rows can be told apart by it. */
export const pageSeparator = ',\n';

const prefixBytes = 8;

/** Two lengths, a header in JSON, a body. */
export function encodeFrame(header: unknown, body: Buffer = Buffer.alloc(0)): Buffer {
  const text = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32LE(text.length, 0);
  prefix.writeUInt32LE(body.length, 4);
  return Buffer.concat([prefix, text, body]);
}

/** Puts frames together again. Throws when one is larger than agreed: the other side is not to be trusted. */
export class FrameReader {
  private chunks: Buffer[] = [];
  private size = 0;

  constructor(private readonly maxBytes: number) {}

  push(chunk: Buffer): Frame[] {
    this.chunks.push(chunk);
    this.size += chunk.length;
    const frames: Frame[] = [];
    for (let frame = this.take(); frame; frame = this.take()) frames.push(frame);
    return frames;
  }

  private take(): Frame | null {
    if (this.size < prefixBytes) return null;
    const first = this.chunks[0]?.length ?? 0;
    if (first < prefixBytes) this.chunks = [Buffer.concat(this.chunks)];
    const prefix = this.chunks[0] as Buffer;
    const headerBytes = prefix.readUInt32LE(0);
    const end = prefixBytes + headerBytes + prefix.readUInt32LE(4);
    if (end > this.maxBytes) throw new Error(`a frame of ${end} bytes is more than the ${this.maxBytes} agreed`);
    if (this.size < end) return null;
    const whole = Buffer.concat(this.chunks);
    this.chunks = [whole.subarray(end)];
    this.size -= end;
    return {
      header: JSON.parse(whole.toString('utf8', prefixBytes, prefixBytes + headerBytes)),
      body: whole.subarray(prefixBytes + headerBytes, end),
    };
  }
}
