import type { Readable } from 'node:stream';
import type { Principal } from '../../core/access/principal.ts';
import type { operations } from '../../schema/contract.ts';
import type { Actor, Tx, WriteAnswer } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { OperationId } from './contract.ts';
import type { SentFile } from './form.ts';

type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type Query<Id extends OperationId> = operations[Id]['parameters'] extends { query?: infer Q } ? NonNullable<Q> : Record<string, never>;
type Path<Id extends OperationId> = operations[Id]['parameters'] extends { path: infer P } ? P : Record<string, never>;
type Form<T> = T extends { content: { 'multipart/form-data': infer Fields } } ? Fields : never;
type Body<Id extends OperationId> = operations[Id] extends { requestBody?: infer B } ? Json<NonNullable<B>> | Form<NonNullable<B>> : never;

type SuccessStatus<Id extends OperationId> = Extract<keyof operations[Id]['responses'], 200 | 201 | 202 | 204 | 303>;

/** Content that is not JSON: text, a page, a file, a stream. */
export interface RawContent {
  type: string;
  data: string | Buffer | Readable;
}

interface Headed {
  headers?: Record<string, string>;
}

/** What a handler may answer, by the contract; `raw` where it writes the bytes itself. Refusals are thrown. */
export type Reply<Id extends OperationId> = {
  [S in SuccessStatus<Id>]: Headed & { status: S } & ([Json<operations[Id]['responses'][S]>] extends [never]
      ? { raw?: RawContent }
      : { body: Json<operations[Id]['responses'][S]> } | { raw: RawContent });
}[SuccessStatus<Id>];

export interface AnyReply extends Headed {
  status: number;
  body?: unknown;
  raw?: RawContent;
}

/** One request on its way through: all that a handler sees of HTTP. */
export interface Call<Id extends OperationId> {
  principal: Principal;
  params: Path<Id>;
  query: Query<Id>;
  body: Body<Id>;
  requestId: string;
  /** The media type that the caller likes best of those offered; null when it likes none. */
  accepts(...types: string[]): string | null;
  /** The caller's network address. */
  address: string;
  /** Aborted when the caller goes away before the answer: work that is for nobody else can end. */
  abandoned: AbortSignal;
  /** For requests that have no principal yet. */
  idempotencyScope(scope: string): void;
  /** Who is written down as having done it. */
  actor(name?: string | null): Actor;
  /**
   * The one way to change something: one transaction for the change, its journal and the answer that a repeated request
   * gets. The answer is made inside it and must be pure.
   */
  write: WriteAnswer<Reply<Id>>;
  /** The same in another name than the caller's own. */
  writeAs(actor: Actor): WriteAnswer<Reply<Id>>;
  /** The file of a form; one that is missing is refused. */
  file: SentFile;
  /** The body as a file, for operations that take any bytes. */
  saveBody(filename: string): Promise<SentFile>;
  /**
   * The one way to give work to a workflow. `begin` registers the job in one transaction, or answers at once; then the job is
   * started and waited for, as long as a caller likes to wait. What takes longer is answered with the job.
   */
  handOver(actor: Actor, begin: (tx: Tx) => Promise<Begun<Id>>, wait: JobWait<Id>): Promise<Reply<Id>>;
}

/** A job that was registered, or an answer that needs none. */
export type Begun<Id extends OperationId> = { job: JobRecord } | { reply: Reply<Id> };

export interface JobWait<Id extends OperationId> {
  /** Answers with the job at once. */
  async?: boolean;
  /** Whether there is enough to answer with; by default when the job is over. */
  isReady?: (job: JobRecord) => boolean;
  answer: (job: JobRecord) => Promise<Reply<Id>>;
}

export type Handler<Id extends OperationId> = (call: Call<Id>) => Promise<Reply<Id>>;
export type Handlers<Ids extends OperationId = OperationId> = { [Id in Ids]: Handler<Id> };
