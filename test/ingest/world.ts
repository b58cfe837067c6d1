import ExcelJS from 'exceljs';
import { startWorker } from '../../activities/worker.ts';
import type { components } from '../../schema/contract.ts';
import type { Service } from '../../store/lifecycle.ts';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';

type Schemas = components['schemas'];
export type UploadAnswer = Schemas['SourceUploadResponse'];

/** An API and a worker over real services, and one person with a workbook. */
export interface IngestWorld {
  api: TestApi;
  worker: Service;
  owner: Person;
  workbookId: string;
  send(filename: string, bytes: Uint8Array | string, options?: SendOptions): Promise<Response>;
  upload(filename: string, bytes: Uint8Array | string, options?: SendOptions): Promise<UploadAnswer>;
  newWorkbook(): Promise<string>;
  readRows(name: string, workbookId?: string): Promise<Record<string, unknown>[]>;
  waitForJob(jobId: string): Promise<Schemas['Job']>;
  stop(): Promise<void>;
}

export interface SendOptions {
  workbookId?: string;
  token?: string;
  path?: string;
  key?: string;
  fields?: Record<string, string>;
}

export async function openWorld(env: Record<string, string> = {}): Promise<IngestWorld> {
  const api = await startTestApi({ SVC_RATE_LIMITS: 'off', ...env });
  const worker = await startWorker(api.config);
  const owner = await api.signUp('持ち主');
  const newWorkbook = async () => ok(await owner.client.POST('/api/v1/workbooks', { body: { title: '取込' } })).id;
  const workbookId = await newWorkbook();
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
    worker,
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
    async readRows(name, id = workbookId) {
      const path = { workbook_id: id, name };
      const page = ok(await owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', { params: { path } }));
      return (page as { rows: Record<string, unknown>[] }).rows;
    },
    async waitForJob(jobId) {
      for (const until = Date.now() + 60_000; ; ) {
        const job = ok(await owner.client.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: jobId } } }));
        if (job.finished_at !== null || Date.now() > until) return job;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async stop() {
      await worker.stop();
      await api.stop();
    },
  };
}

type Cell = string | number | boolean | Date | null | { formula: string; result: number };

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
