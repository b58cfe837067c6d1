import { setTimeout as delay } from 'node:timers/promises';
import ExcelJS from 'exceljs';
import { afterAll, beforeEach } from 'vitest';
import { startWorker } from '../../activities/worker.ts';
import type { components } from '../../schema/contract.ts';
import type { Service } from '../../store/lifecycle.ts';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';

type Schemas = components['schemas'];
export type UploadAnswer = Schemas['SourceUploadResponse'];

/** An API and a worker over real services, and one person with a workbook. */
export interface IngestWorld {
  api: TestApi;
  owner: Person;
  workbookId: string;
  send(filename: string, bytes: Uint8Array | string, options?: SendOptions): Promise<Response>;
  upload(filename: string, bytes: Uint8Array | string, options?: SendOptions): Promise<UploadAnswer>;
  newWorkbook(): Promise<string>;
  readRows(name: string, workbookId?: string): Promise<Row[]>;
  /** Rows without their ids. */
  readCells(name: string, workbookId?: string): Promise<Row[]>;
  query(sql: string, workbookId?: string): Promise<Row[]>;
  listNames(state?: 'active' | 'archived', workbookId?: string): Promise<string[]>;
  getSource(name: string, workbookId?: string): Promise<Schemas['Source']>;
  /** What the outbox holds for a workbook, oldest first. */
  readEvents(workbookId?: string): Promise<{ type: string; data: Row }[]>;
  readCredits(): Promise<Schemas['Credits']>;
  startWorker(): Promise<void>;
  stopWorker(): Promise<void>;
  waitForJob(jobId: string): Promise<Schemas['Job']>;
  getJob(jobId: string): Promise<Schemas['Job']>;
  cancelJob(jobId: string): Promise<Schemas['Job']>;
  /** The same, until it has ended: the answer waits for that only so long. */
  cancelToEnd(jobId: string): Promise<Schemas['Job']>;
  stop(): Promise<void>;
}

export type Row = Record<string, unknown>;

export interface SendOptions {
  workbookId?: string;
  token?: string;
  path?: string;
  key?: string;
  fields?: Record<string, string>;
}

export interface WorldOptions {
  env?: Record<string, string>;
  /** Whether it works from the start; without it jobs stay as they are registered. */
  worker?: boolean;
}

export async function openWorld({ env = {}, worker: isWorking = true }: WorldOptions = {}): Promise<IngestWorld> {
  const api = await startTestApi({ SVC_RATE_LIMITS: 'off', ...env });
  let worker: Service | null = isWorking ? await startWorker(api.config) : null;
  const owner = await api.signUp('持ち主');
  const newWorkbook = async () => ok(await owner.client.POST('/api/v1/workbooks', { body: { title: '取込' } })).id;
  const workbookId = await newWorkbook();
  const { client } = owner;
  const getJob = async (id: string) => ok(await client.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: id } } }));
  const cancelJob = async (id: string) => ok(await client.POST('/api/v1/jobs/{job_id}/cancel', { params: { path: { job_id: id } } }));
  const waitForJob = async (id: string) => {
    for (const until = Date.now() + 120_000; ; await delay(50)) {
      const job = await getJob(id);
      if (job.finished_at !== null || Date.now() > until) return job;
    }
  };
  const readRows = async (name: string, id = workbookId): Promise<Row[]> => {
    const params = { path: { workbook_id: id, name }, query: { limit: 1000 } };
    const page = ok(await client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', { params }));
    return (page as Schemas['RowsPage']).rows;
  };
  const send: IngestWorld['send'] = (filename, bytes, options = {}) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(options.fields ?? {})) form.set(name, value);
    form.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), filename);
    const path = options.path ?? `/api/v1/workbooks/${options.workbookId ?? workbookId}/sources`;
    return api.fetch(path, {
      method: 'POST',
      body: form,
      token: options.token ?? owner.session,
      headers: options.key ? { 'Idempotency-Key': options.key } : {},
    });
  };
  return {
    api,
    owner,
    workbookId,
    newWorkbook,
    send,
    async upload(filename, bytes, options) {
      const response = await send(filename, bytes, options);
      const body = await response.json();
      if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(body)}`);
      return body as UploadAnswer;
    },
    readRows,
    async readCells(name, id) {
      return (await readRows(name, id)).map(({ __svc_row_id: _, ...cells }) => cells);
    },
    async query(sql, id = workbookId) {
      const params = { path: { workbook_id: id } };
      const answer = ok(await client.POST('/api/v1/workbooks/{workbook_id}/query', { params, body: { sql } }));
      return (answer as unknown as { rows: Row[] }).rows;
    },
    async listNames(state = 'active', id = workbookId) {
      const params = { path: { workbook_id: id }, query: { state } };
      return ok(await client.GET('/api/v1/workbooks/{workbook_id}/tables', { params }))
        .tables.map(({ name }) => name)
        .sort();
    },
    async getSource(name, id = workbookId) {
      const params = { path: { workbook_id: id, source_name: name } };
      return ok(await client.GET('/api/v1/workbooks/{workbook_id}/sources/{source_name}', { params }));
    },
    async readEvents(id = workbookId) {
      return (await api.sql.query<{ type: string; data: Row }>('SELECT type, data FROM outbox WHERE scope = $1 ORDER BY seq', [id])).rows;
    },
    readCredits: async () => ok(await client.GET('/api/v1/me')).credits,
    getJob,
    cancelJob,
    async cancelToEnd(jobId) {
      await cancelJob(jobId);
      return waitForJob(jobId);
    },
    waitForJob,
    async startWorker() {
      worker ??= await startWorker(api.config);
    },
    async stopWorker() {
      await worker?.stop();
      worker = null;
    },
    async stop() {
      await worker?.stop();
      await api.stop();
    },
  };
}

/** The world of a test file: there for its tests, with a worker for each of them, whatever the one before has stopped. */
export async function useWorld(options?: WorldOptions): Promise<IngestWorld> {
  const world = await openWorld(options);
  beforeEach(() => world.startWorker());
  afterAll(() => world.stop());
  return world;
}

export type Cell = string | number | boolean | Date | null | { formula: string; result: number };

/** A workbook of plain sheets. */
export async function makeXlsx(sheets: Record<string, Cell[][]>, change?: (book: ExcelJS.Workbook) => void): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  for (const [name, rows] of Object.entries(sheets)) book.addWorksheet(name).addRows(rows);
  change?.(book);
  return new Uint8Array(await book.xlsx.writeBuffer());
}

/** The profit and loss statement of the structuring page. */
export function makeIncomeStatement(sales = 100): Promise<Uint8Array> {
  const sum = (column: string, result: number) => ({ formula: `SUM(${column}5:${column}6)`, result });
  const rows: Cell[][] = [
    ['損益計算書'],
    ['(単位：千円)'],
    ['科目', '2022年度', '2023年度'],
    ['売上高', sum('B', sales + 50), sum('C', 180)],
    ['製品売上', sales, 120],
    ['商品売上', 50, 60],
    ['売上原価', 90, 100],
    ['売上総利益', { formula: 'B4-B7', result: sales + 50 - 90 }, { formula: 'C4-C7', result: 80 }],
    ['※監査前'],
  ];
  return makeXlsx({ PL: rows }, (book) => {
    for (const row of [5, 6]) (book.getWorksheet('PL') as ExcelJS.Worksheet).getCell(row, 1).alignment = { indent: 1 };
  });
}

export const bare = (rows: number): Cell[][] => [
  ['品番', '品名', '数量'],
  ...Array.from({ length: rows }, (_, n): Cell[] => [`P${String(n + 1).padStart(4, '0')}`, `品 ${n + 1}`, n * 3]),
];

let files = 0;
/** A file like no other: bytes that were seen before take another way. */
export function makeNewFile(rows = 3): Promise<Uint8Array> {
  files += 1;
  return makeXlsx({ S: [...bare(rows), [`P9${files}`, '別', files]] });
}

/** Numbers that stand about: no table can be found in them. */
export const scattered = (count = 60): Cell[][] =>
  Array.from({ length: count }, (_, i): Cell[][] => [
    [...Array.from({ length: ((i * 5) % 7) * 3 }, () => null), i * 17 + 1],
    [],
    [],
  ]).flat();

/** The names of tables in an answer. */
export const namesOf = (answer: UploadAnswer) => answer.artifacts.map(({ name }) => name);
