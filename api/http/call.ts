import type { Readable } from 'node:stream';
import type { Principal } from '../../core/access/principal.ts';
import type { operations } from '../../schema/contract.ts';
import type { Actor, Tx, WriteAnswer } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { OperationId } from './contract.ts';
import type { SentFile } from './form.ts';
import type { Validator } from './validators.ts';

type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type Query<Id extends OperationId> = operations[Id]['parameters'] extends { query?: infer Q } ? NonNullable<Q> : Record<string, never>;
type Path<Id extends OperationId> = operations[Id]['parameters'] extends { path: infer P } ? P : Record<string, never>;
type Form<T> = T extends { content: { 'multipart/form-data': infer Fields } } ? Fields : never;
type PageForm<T> = T extends { content: { 'application/x-www-form-urlencoded': infer Fields } } ? Fields : never;
type Body<Id extends OperationId> = operations[Id] extends { requestBody?: infer B }
  ? Json<NonNullable<B>> | Form<NonNullable<B>> | PageForm<NonNullable<B>>
  : never;

type SuccessStatus<Id extends OperationId> = Extract<keyof operations[Id]['responses'], 200 | 201 | 202 | 204 | 303>;

/** Content that is not JSON: text, a page, a file, a stream. */
export interface RawContent {
  type: string;
  data: string | Buffer | Readable;
  /** A file as it was uploaded: the encoding of its text is not known. */
  isOriginal?: boolean;
  /** Of a stream, where it is known. */
  size?: number;
}

interface Headed {
  headers?: Record<string, string>;
  /** What the ETag says: the version that is shown, or all of it. What is left out is taken from the bytes. */
  validator?: Validator | Pick<Validator, 'version'>;
  /** The policy version of the workbook when what it shows was read. What is left out is taken when the answer is stored. */
  policyVersion?: number | null;
}

/** The replies that the contract allows; `raw` if the handler writes the bytes itself. Refusals are thrown. */
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

/** A request as a handler sees it. */
export interface Call<Id extends OperationId> {
  principal: Principal;
  params: Path<Id>;
  query: Query<Id>;
  body: Body<Id>;
  /** The body as it was sent, where it is not a form. */
  sentBytes: Uint8Array;
  requestId: string;
  /** Makes a reading's answer, unless the caller has it already by its validator: then 304, and nothing is read. */
  unlessSeen(validator: Validator, make: () => Promise<Reply<Id>>): Promise<Reply<Id>>;
  header(name: string): string | null;
  /**
   * The headers of the answer that the same request, known by its Idempotency-Key, was given before. Only for operations that
   * answer with files: these are not kept, but made again.
   */
  answered: Record<string, string> | null;
  /** The media type to answer with, as the caller wants it. */
  type: string;
  /** The caller's network address. */
  address: string;
  /** Waits until the answer may take so many bytes of memory; refuses after a while. They are given back when it was sent. */
  takeRoom(bytes: number): Promise<void>;
  /** Makes a stream of bounded size to its end before it is sent, so that what goes wrong with it is still told. */
  spool(stream: Readable, most: { bytes: number; refuse(): Error }): Promise<Pick<RawContent, 'data' | 'size'>>;
  /** Aborted when the caller disconnects before the answer. */
  abandoned: AbortSignal;
  /** Sets the scope of idempotency keys, for requests without a principal. */
  idempotencyScope(scope: string): void;
  /** The actor recorded in the journal. */
  actor(name?: string | null): Actor;
  /**
   * The only way to change something: one transaction for the change, its journal and the stored answer for repeated requests.
   * The answer is made inside it and must be pure.
   */
  write: WriteAnswer<Reply<Id>>;
  /** The same in another actor's name. */
  writeAs(actor: Actor): WriteAnswer<Reply<Id>>;
  /** The file of a form; refused if missing. */
  file: SentFile;
  /** Saves the body to a file, for operations that take any bytes. */
  saveBody(filename: string): Promise<SentFile>;
  /**
   * The only way to give work to a workflow. `begin` registers the job in a transaction, or answers at once. Then the job is
   * started and awaited for a while; after that the answer is the job itself.
   */
  handOver(actor: Actor, begin: (tx: Tx) => Promise<Begun<Id>>, wait: JobWait<Id>): Promise<Reply<Id>>;
}

/** A registered job, or an answer that needs none. */
export type Begun<Id extends OperationId> = { job: JobRecord; joined?: boolean } | { reply: Reply<Id> };

export interface JobWait<Id extends OperationId> {
  /** Answer with the job at once. */
  async?: boolean;
  /** Whether there is enough to answer; by default once the job is over. */
  isReady?: (job: JobRecord) => boolean;
  /** `joined`: another request has begun the job. */
  answer: (job: JobRecord, joined: boolean) => Promise<Reply<Id>>;
}

export type Handler<Id extends OperationId> = (call: Call<Id>) => Promise<Reply<Id>>;
export type Handlers<Ids extends OperationId = OperationId> = { [Id in Ids]: Handler<Id> };
