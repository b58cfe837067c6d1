import ExcelJS from 'exceljs';
import { expect } from 'vitest';
import { ok } from '../setup/api.ts';
import { type DrivenTable, useWorkbook } from './tableDriver.ts';

export interface Exported {
  branchId: string;
  bytes: Buffer;
}

interface Merged {
  edit_version: number;
  op_id: number | null;
  inserted: number;
  updated: number;
  deleted: number;
  conflicts: string[];
  unchanged: number;
  planned_conflicts?: Record<string, unknown>[];
  planned_changes?: { row_id: number | null; kind: string; cells: { column: string; old: unknown; new: unknown }[] }[];
}

type Answer = Merged & {
  branch_id: string;
  tables: (Merged & { name: string })[];
  type?: string;
  detail?: string;
  errors?: { pointer: string; detail: string }[];
};

export const columns = [
  { name: '日付', type: 'DATE' },
  { name: '得意先' },
  { name: '金額', type: 'BIGINT' },
  { name: '率', type: 'DECIMAL(6,3)' },
  { name: '済', type: 'BOOLEAN' },
  { name: '時刻', type: 'TIMESTAMP' },
  { name: '比', type: 'DOUBLE' },
];
export const rows = [
  { 日付: '2024-04-01', 得意先: '007', 金額: 120000, 率: '0.125', 済: true, 時刻: '2024-04-01T09:30:15', 比: 0.1 },
  { 日付: '2024-04-02', 得意先: '=1+1', 金額: '9007199254740993', 率: '1.500', 済: false, 時刻: null, 比: 0.30000000000000004 },
  { 日付: '1868-10-23', 得意先: '行\r\n末 ', 金額: null, 率: null, 済: null, 時刻: '2024-04-01T09:30:15.123456', 比: 1e21 },
];

/** What a merge that changes nothing answers for these rows. */
export const none = { op_id: null, inserted: 0, updated: 0, deleted: 0, conflicts: [], unchanged: 3 };

/** Edits a workbook as exceljs does. */
export async function editBook({ branchId, bytes }: Exported, change: (book: ExcelJS.Workbook) => void): Promise<Exported> {
  const book = new ExcelJS.Workbook();
  await book.xlsx.load(bytes as never);
  change(book);
  return { branchId, bytes: Buffer.from(await book.xlsx.writeBuffer()) };
}

/** A workbook whose tables are exported and merged again. */
export async function useReturnedFiles() {
  const { api, world } = await useWorkbook();
  const address = `/api/v1/workbooks/${world.workbookId}`;
  const token = world.owner.session;
  const listed = { params: { path: { workbook_id: world.workbookId } } };

  async function branchOff(tables: string[], format = 'xlsx', of = address, as = token): Promise<Exported> {
    const body = JSON.stringify({ tables, format, record_branch: true });
    const answer = await api.fetch(`${of}/export`, { method: 'POST', token: as, headers: { 'Content-Type': 'application/json' }, body });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect([answer.status, answer.status === 200 ? '' : bytes.toString()]).toEqual([200, '']);
    return { branchId: answer.headers.get('x-svc-branch-id') ?? '', bytes };
  }

  async function send(path: string, bytes: Buffer | string, fields: Record<string, string>, filename = 'book.xlsx') {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append('file', new Blob([bytes as unknown as Uint8Array<ArrayBuffer>]), filename);
    const answer = await api.fetch(`${address}${path}`, { method: 'POST', token, body: form });
    return { status: answer.status, body: (await answer.json()) as Answer };
  }

  async function merge(table: string, { branchId, bytes }: Exported, filename = 'book.xlsx', query = ''): Promise<Merged> {
    const { status, body } = await send(`/tables/${encodeURIComponent(table)}/merge${query}`, bytes, { branch_id: branchId }, filename);
    expect([status, status === 200 ? '' : JSON.stringify(body)]).toEqual([200, '']);
    return body;
  }

  async function makeSales(name: string): Promise<DrivenTable> {
    const table = await world.makeTable(name, columns);
    ok(await table.upsert(rows));
    return table;
  }

  return { api, world, listed, branchOff, send, merge, makeSales };
}
