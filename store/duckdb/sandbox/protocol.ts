import type { QueryLineage } from '../../../core/lineage/readPlan.ts';
import type { Analysis } from '../../../core/sql/analyze.ts';
import type { KnownTable } from '../../../core/sql/checkTree.ts';
import type { Tail } from '../relation.ts';

/** Messages between the service and a query process, over one socket, one request and reply at a time. */

/** The folder in `open` for a query whose session does not stay, and for files of strangers. */
export const aloneFolder = 'alone';

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
  /** The SELECT for its rows, with paths as the process sees them. */
  select: string;
  /** Has hidden columns: it is copied before user SQL runs, and its files are then removed. */
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

/** Like `validate`, for SQL without parameters; tells also what each column of the result depends on. */
export interface PlanRequest {
  op: 'plan';
  sql: string;
  tables: { name: string; columns: ResultColumn[] }[];
  timeoutMs: number;
}

/** Rewrites a query so that its rows tell what they were made from, see core/lineage/traceRows.ts. */
export interface TraceRowsRequest {
  op: 'traceRows';
  sql: string;
  tables: KnownTable[];
  /** The beginning of the names of the columns that are added, one for each table. */
  prefix: string;
}

/**
 * Up to three steps in one request; null skips a step. A query that fails the check goes no further. Loading in a request of
 * its own lets the service remove files before the query runs.
 */
export interface RunRequest {
  op: 'run';
  sql: string;
  params: Params;
  /** The tables that the SQL may name. */
  check: KnownTable[] | null;
  /** After a check, only tables that the query reads are loaded. If it reads one that is not listed, nothing is done. */
  load: LoadedRelation[] | null;
  execute: ExecuteStep | null;
  timeoutMs: number;
  /**
   * The session of an earlier query, or one that is to stay for later ones; then all listed tables are loaded. Null: for this
   * query alone. Sessions stay after success, and after an error of the kind `failed`.
   */
  session: string | null;
  /** The folder in `open` with the files of tables without hidden columns. */
  folder: string;
}

/** Ends sessions that stayed. */
export interface EndRequest {
  op: 'end';
  sessions: string[];
}

/** Holds the tables of a session that stayed in memory. */
export interface HoldRequest {
  op: 'hold';
  session: string;
}

export interface ExecuteStep {
  pageLimit: number;
  /** A longer page is left out where the result is kept, and refused where it is not. */
  maxPageBytes: number;
  maxRows: number;
  maxBytes: number;
  /** File name for the whole result. Null: only the first page is wanted. */
  resultFile: string | null;
  /** A result up to this size is sent with the reply instead: as rows of JSON, or as a file. */
  inlineBytes: { rows: number; file: number };
}

/** SQL of the service itself, over a file that strangers wrote. */
export interface ReadFileRequest {
  op: 'readFile';
  sql: string;
  timeoutMs: number;
}

export type Request =
  | CheckRequest
  | ValidateRequest
  | PlanRequest
  | TraceRowsRequest
  | RunRequest
  | EndRequest
  | HoldRequest
  | ReadFileRequest;

export interface Executed {
  columns: ResultColumn[];
  rowCount: number;
  more: boolean;
  elapsedMs: number;
  /** What the body of the reply is. */
  body: ResultBody;
}

/**
 * `rows`: the whole result as a JSON array of objects, separated by `pageSeparator`. `page`: the page alone as a JSON array, or nothing
 * if that is long; the result was written to `resultFile`, if one is wanted. `file`: such a page, followed by so many bytes of
 * the result's file.
 */
export type ResultBody = { kind: 'rows' } | { kind: 'page' } | { kind: 'file'; bytes: number };

export interface Replies {
  check: { analysis: Analysis; normalised: string | null };
  validate: { analysis: Analysis; columns: ResultColumn[] };
  /** Lineage null: every column depends on everything, or nothing was bound. */
  plan: { analysis: Analysis; columns: ResultColumn[]; lineage: QueryLineage | null };
  /** Null: its rows cannot be traced. */
  traceRows: { analysis: Analysis; traced: string | null };
  /** `asksToHold`: the session has been asked so much that it should be sent a `hold` once there is time. */
  run: { analysis: Analysis | null; executed: Executed | null; asksToHold: boolean };
  end: null;
  hold: null;
  /** The rows of the result; numbers beyond 2^53 as texts. */
  readFile: { rows: Scalar[][] };
}

/** `failed`: the fault of the query. `broken`: ours; its text only goes to the log. */
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

/** Separates the rows of a page. DuckDB writes JSON without line breaks, so rows can be split by it. */
export const pageSeparator = ',\n';

const prefixBytes = 8;

/** What comes before the body of a frame: two lengths and a header in JSON. */
export function encodeHead(header: unknown, bodyBytes = 0): Buffer {
  const text = JSON.stringify(header);
  const textBytes = Buffer.byteLength(text);
  const head = Buffer.allocUnsafe(prefixBytes + textBytes);
  head.writeUInt32LE(textBytes, 0);
  head.writeUInt32LE(bodyBytes, 4);
  head.write(text, prefixBytes);
  return head;
}

/** Reassembles frames. Throws if one is too large, because the other side is not trusted. */
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
