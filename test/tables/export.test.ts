import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import { type asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { afterAll, describe, expect, it } from 'vitest';
import { collectVersions } from '../../activities/maintenance/collectGarbage.ts';
import { findSheetMark } from '../../store/xlsx/branchMarks.ts';
import { readWorkbook, WorkbookFile } from '../../store/xlsx/index.ts';
import { parseCsv } from '../formats/readBack.ts';
import { ok, refused } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';
import { makeLargeTable } from '../setup/largeTable.ts';
import { findOpenpyxl, runPython } from '../setup/openpyxl.ts';
import { cellsOf } from '../xlsx/makeWorkbook.ts';
import { useWorkbook } from './tableDriver.ts';

// Before the service starts, which must not stand still meanwhile.
const python = findOpenpyxl();
const { api, world } = await useWorkbook();
const folder = mkdtempSync(join(tmpdir(), 'export-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const address = `/api/v1/workbooks/${world.workbookId}`;
const listed = { params: { path: { workbook_id: world.workbookId } } };

interface Sent {
  token?: string;
  key?: string;
}

async function send(body: Record<string, unknown>, { token = world.owner.session, key }: Sent = {}): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', ...(key ? { 'Idempotency-Key': key } : {}) };
  return api.fetch(`${address}/export`, { method: 'POST', token, headers, body: JSON.stringify(body) });
}

async function take(body: Record<string, unknown>, sent: Sent = {}) {
  const answer = await send(body, sent);
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect([answer.status, answer.status === 200 ? '' : bytes.toString()]).toEqual([200, '']);
  const header = (name: string) => answer.headers.get(name);
  return { bytes, header, filename: decodeURIComponent(/filename\*=UTF-8''(.*)/.exec(header('content-disposition') ?? '')?.[1] ?? '') };
}

async function readSheets(bytes: Buffer | string) {
  return (await readWorkbook(bytes)).sheets.map((sheet) => ({ name: sheet.sheet, cells: cellsOf(sheet) }));
}

async function typeOf(answer: Response): Promise<unknown> {
  return ((await answer.json()) as { type?: unknown }).type;
}

/** The files of a zip. */
async function unzip(bytes: Buffer): Promise<Record<string, string>> {
  const path = join(folder, 'files.zip');
  writeFileSync(path, bytes);
  const script = `
import sys, json, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print(json.dumps({name: archive.read(name).decode('utf-8', 'replace') for name in archive.namelist()}))`;
  return runPython('python3', script, path);
}

const sales = await world.makeTable('売上明細', [
  { name: '日付', type: 'DATE' },
  { name: '得意先', type: 'VARCHAR' },
  { name: '金額', type: 'BIGINT' },
  { name: '率', type: 'DECIMAL(6,3)' },
  { name: '済', type: 'BOOLEAN' },
  { name: '=列', type: 'VARCHAR' },
]);
ok(
  await sales.upsert([
    { 日付: '2024-04-01', 得意先: '山田商店', 金額: 120000, 率: '0.125', 済: true, '=列': '=HYPERLINK("http://x")' },
    { 日付: '2024-04-02', 得意先: '007', 金額: -5, 率: null, 済: false, '=列': '@x' },
    { 日付: null, 得意先: null, 金額: null, 率: null, 済: null, '=列': null },
  ]),
);
ok(await sales.upsert([{ __svc_row_id: 2, 金額: -6 }]));
const costs = await world.makeTable('経費/4月', [{ name: '科目' }]);
ok(await costs.upsert([{ 科目: '旅費' }]));

describe('export', () => {
  it('writes a workbook with a sheet for each table', async () => {
    const { bytes, header, filename } = await take({ tables: ['経費/4月', '売上明細'], format: 'xlsx', include_row_ids: true });
    expect(header('content-type')).toBe('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
    expect(header('content-length')).toBe(String(bytes.length));
    expect(filename).toBe('決算.xlsx');
    expect(header('x-svc-masked-columns')).toBe('');
    expect(header('x-svc-denied-columns')).toBe('0');
    expect(header('x-svc-preserved-formulas')).toBe('0');
    expect(header('x-svc-branch-id')).toBeNull();
    const sheets = await readSheets(bytes);
    expect(sheets.map(({ name }) => name)).toEqual(['経費_4月', '売上明細']);
    expect(sheets[1]?.cells).toEqual({
      ...{ A1: '日付', B1: '得意先', C1: '金額', D1: '率', E1: '済', F1: '=列', G1: '__svc_row_id' },
      ...{ A2: { date: '2024-04-01T00:00:00' }, B2: '山田商店', C2: 120000, D2: 0.125, E2: true, F2: '=HYPERLINK("http://x")', G2: 1 },
      ...{ A3: { date: '2024-04-02T00:00:00' }, B3: '007', C3: -6, E3: false, F3: '@x', G3: 2 },
      G4: 3,
    });
  });

  it('writes csv that programs for spreadsheets open as it is meant', async () => {
    const { bytes, header, filename } = await take({ tables: ['売上明細'], format: 'csv' });
    expect(header('content-type')).toBe('text/csv; charset=utf-8');
    expect(filename).toBe('売上明細.csv');
    expect(bytes.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
    expect(parseCsv(bytes.subarray(3).toString())).toEqual([
      ['日付', '得意先', '金額', '率', '済', "'=列"],
      ['2024-04-01', '山田商店', '120000', '0.125', 'true', `'=HYPERLINK("http://x")`],
      ['2024-04-02', '007', '-6', null, 'false', "'@x"],
      [null, null, null, null, null, null],
    ]);
    const plain = await take({ tables: ['経費/4月'], format: 'csv', csv_bom: false, include_row_ids: true, filename: 'a/b' });
    expect([plain.bytes.toString(), plain.filename]).toEqual(['科目,__svc_row_id\n旅費,1\n', 'a_b.csv']);
  });

  it('writes NDJSON and parquet', async () => {
    const lines = await take({ tables: ['経費/4月'], format: 'ndjson', include_row_ids: true });
    expect(lines.header('content-type')).toBe('application/x-ndjson');
    expect(lines.bytes.toString()).toBe('{"科目":"旅費","__svc_row_id":1}\n');
    const { bytes, filename } = await take({ tables: ['売上明細'], format: 'parquet', filename: '四月.PARQUET' });
    expect(filename).toBe('四月.PARQUET');
    const file = { byteLength: bytes.length, slice: (from: number, to?: number) => new Uint8Array(bytes.subarray(from, to)).buffer };
    const rows = await parquetReadObjects({ file: file as Awaited<ReturnType<typeof asyncBufferFromFile>> });
    expect(rows.map(({ 得意先, '=列': text }) => [得意先, text])).toEqual([
      ['山田商店', '=HYPERLINK("http://x")'],
      ['007', '@x'],
      [null, null],
    ]);
  });

  it.skipIf(!python)('writes several tables as a zip of files', async () => {
    const { bytes, header, filename } = await take({ tables: ['経費/4月', '売上明細'], format: 'csv', csv_bom: false });
    expect([header('content-type'), filename]).toEqual(['application/zip', '決算.zip']);
    const files = await unzip(bytes);
    expect(Object.keys(files)).toEqual(['経費_4月.csv', '売上明細.csv']);
    expect(files['経費_4月.csv']).toBe('科目\n旅費\n');
    const lines = await unzip((await take({ tables: ['経費/4月', '売上明細'], format: 'ndjson' })).bytes);
    expect(lines['経費_4月.ndjson']).toBe('{"科目":"旅費"}\n');
    const columns = await unzip((await take({ tables: ['経費/4月', '売上明細'], format: 'parquet' })).bytes);
    expect(columns['売上明細.parquet']?.slice(0, 4)).toBe('PAR1');
  });

  it('takes tables by id, without rows, and archived', async () => {
    const empty = await world.makeTable('空', [{ name: 'a' }]);
    const { id } = ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}', { params: { path: empty.path } }));
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/artifacts/{name}/archive', { params: { path: empty.path } }));
    for (const name of ['空', id]) {
      const [sheet] = await readSheets((await take({ tables: [name], format: 'xlsx' })).bytes);
      expect(sheet).toEqual({ name: '空', cells: { A1: 'a' } });
    }
    expect((await take({ tables: ['空'], format: 'csv', csv_bom: false })).bytes.toString()).toBe('a\n');
  });

  it('shows what annotations say of the look', async () => {
    const table = await world.makeTable('飾り', [{ name: 'a' }, { name: 'n', type: 'DOUBLE' }]);
    ok(await table.upsert([{ a: 'x', n: 1.5 }, { a: 'y' }, { a: 'z', n: 3 }]));
    const annotate = (target: object, style: object) => table.annotate([{ target, style: style as never }]);
    ok(await annotate({}, { italic: true }));
    ok(await annotate({ column: 'n' }, { number_format: '#,##0.00', align: 'right' }));
    ok(await annotate({ row_id: 2 }, { background: '#FFF2CC', italic: false }));
    ok(await annotate({ row_id: 3, column: 'n' }, { bold: true, color: '#ff0000', number_format: '0%' }));
    const note = (target: object, text: string) => table.annotate([{ target, note: text }]);
    ok(await note({ column: 'a' }, '列の <注>'));
    ok(await note({ row_id: 3 }, '行の注'));
    ok(await note({ row_id: 3, column: 'a' }, 'セルの注\n二行目'));
    ok(await table.remove([1]));
    const book = new ExcelJS.Workbook();
    await book.xlsx.load((await take({ tables: ['飾り'], format: 'xlsx' })).bytes.buffer as ArrayBuffer);
    const noteOf = (cell: string) => {
      const found = book.getWorksheet('飾り')?.getCell(cell).note;
      return typeof found === 'string' ? found : found?.texts?.map(({ text }) => text).join('');
    };
    expect([noteOf('A1'), noteOf('A2'), noteOf('A3')]).toEqual(['列の <注>', undefined, '行の注\n\nセルの注\n二行目']);
    const styleOf = (cell: string) => book.getWorksheet('飾り')?.getCell(cell).style;
    expect(styleOf('A2')).toMatchObject({ fill: { fgColor: { argb: 'FFFFF2CC' } } });
    expect(styleOf('A2')?.font?.italic).toBeUndefined();
    expect(styleOf('B2')).toMatchObject({
      numFmt: '#,##0.00',
      fill: { fgColor: { argb: 'FFFFF2CC' } },
      alignment: { horizontal: 'right' },
    });
    expect(styleOf('A3')).toMatchObject({ font: { italic: true } });
    expect(styleOf('B3')).toMatchObject({ font: { bold: true, italic: true, color: { argb: 'FFFF0000' } }, numFmt: '0%' });
  });

  it('reads all tables at one moment', async () => {
    const [one, two] = [
      await world.makeTable('一', [{ name: 'n', type: 'BIGINT' }]),
      await world.makeTable('二', [{ name: 'n', type: 'BIGINT' }]),
    ];
    ok(await one.upsert([{ n: 0 }]));
    ok(await two.upsert([{ n: 0 }]));
    let writing = true;
    const writer = (async () => {
      for (let n = 1; writing; n += 1) for (const table of [one, two]) ok(await table.upsert([{ __svc_row_id: 1, n }]));
    })();
    for (let i = 0; i < 8; i += 1) {
      const [first, second] = (await readSheets((await take({ tables: ['二', '一'], format: 'xlsx' })).bytes)).map(({ cells }) =>
        Number(cells.A2),
      );
      expect([0, 1]).toContain((second ?? Number.NaN) - (first ?? Number.NaN));
    }
    writing = false;
    await writer;
  });

  it('writes a table of very many columns', async () => {
    const columns = Array.from({ length: 600 }, (_, i) =>
      i % 2 ? { name: `c${i}`, type: 'BIGINT', sql: `${i}` } : { name: `c${i}`, type: 'VARCHAR', sql: `'=${i}'` },
    );
    const { rows } = await api.sql.query<{ accountId: string }>('SELECT account_id AS "accountId" FROM workbooks WHERE id = $1', [
      world.workbookId,
    ]);
    const workbook = { id: world.workbookId, accountId: rows[0]?.accountId };
    await makeLargeTable(api.services, workbook as never, { name: '広', columns, rows: 3, rowsPerFile: 3 });
    const [sheet] = await readSheets((await take({ tables: ['広'], format: 'xlsx' })).bytes);
    expect(sheet?.cells).toMatchObject({ A1: 'c0', A2: '=0', B2: 1, WA1: 'c598', WA2: '=598', WB2: 599 });
    expect((await take({ tables: ['広'], format: 'csv' })).bytes.toString()).toContain("\n'=0,1,'=2,3,");
  });

  it.skipIf(!python)('survives an edit by openpyxl', async () => {
    const path = join(folder, 'edited.xlsx');
    const { bytes, header } = await take({ tables: ['売上明細'], format: 'xlsx', record_branch: true });
    writeFileSync(path, bytes);
    await runPython(
      python ?? '',
      "import sys, openpyxl\nbook = openpyxl.load_workbook(sys.argv[1])\nbook.active['C2'] = 7\nbook.active.title = '改名'\nbook.save(sys.argv[1])",
      path,
    );
    const file = await WorkbookFile.open(path);
    expect(await file.findBranch()).toBe(header('x-svc-branch-id'));
    await file.close();
    const [sheet] = await readSheets(path);
    expect(sheet?.cells).toMatchObject({ A2: { date: '2024-04-01T00:00:00' }, B3: '007', C2: 7, F2: '=HYPERLINK("http://x")', G2: 1 });
  });

  it.each<[what: string, body: Record<string, unknown>, status: number, pointer: string]>([
    ['a table that is not there', { tables: ['売上'], format: 'xlsx' }, 404, 'Did you mean 売上明細?'],
    ['a table twice', { tables: ['売上明細', '売上明細'], format: 'xlsx' }, 422, '/tables/1'],
    ['no tables', { tables: [], format: 'xlsx' }, 422, '/tables'],
    ['another format', { tables: ['売上明細'], format: 'pdf' }, 422, '/format'],
    ['generated formulas', { tables: ['売上明細'], format: 'xlsx', formula_mode: 'generate' }, 422, '/formula_mode'],
    ['formulas in csv', { tables: ['売上明細'], format: 'csv', formula_mode: 'preserve' }, 422, '/formula_mode'],
    ['a branch of parquet', { tables: ['売上明細'], format: 'parquet', record_branch: true }, 422, '/record_branch'],
    ['a branch of NDJSON', { tables: ['売上明細'], format: 'ndjson', record_branch: true }, 422, '/record_branch'],
    ['a blank name of the file', { tables: ['売上明細'], format: 'csv', filename: '' }, 422, '/filename'],
  ])('refuses %s', async (_, body, status, told) => {
    const answer = await send(body);
    expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(told)]);
  });

  it('refuses what a workbook cannot hold', async () => {
    const long = await world.makeTable('長', [{ name: 'a' }]);
    ok(await long.upsert([{ a: 'x'.repeat(32_768) }]));
    const text = await send({ tables: ['長'], format: 'xlsx' });
    expect([text.status, await text.text()]).toEqual([413, expect.stringContaining('A2 of the sheet 長')]);
    expect((await take({ tables: ['長'], format: 'csv' })).bytes.length).toBe(32_768 + 3 + 2 + 1);
    await world.makeTable('多', [{ name: 'a' }]);
    await api.sql.query("UPDATE tables SET row_count = 1048576 WHERE name = '多'");
    const rows = await send({ tables: ['多'], format: 'xlsx' });
    expect([rows.status, await rows.text()]).toEqual([413, expect.stringContaining('1048575 rows')]);
  });
});

async function listBranches(query: { cursor?: string; limit?: number } = {}) {
  return ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/branches', { params: { ...listed.params, query } }));
}

describe('record_branch', () => {
  const body = { tables: ['売上明細', '経費/4月'], format: 'xlsx', record_branch: true, actor: '佐藤', filename: '四月' };

  it('freezes the exported versions, names itself in the file, and says so', async () => {
    const before = (await listBranches()).branches.length;
    const { bytes, header } = await take(body);
    const id = header('x-svc-branch-id') ?? '';
    const file = await WorkbookFile.open(bytes);
    expect(await file.findBranch()).toBe(id);
    expect(file.sheets.map(({ names }) => findSheetMark(names)?.branchId)).toEqual([id, id]);
    await file.close();
    const sheets = await readSheets(bytes);
    expect(sheets.map(({ cells }) => [cells.G1, cells.B1])).toEqual([
      ['__svc_row_id', '得意先'],
      [undefined, '__svc_row_id'],
    ]);
    const { branches } = await listBranches();
    expect(branches.length).toBe(before + 2);
    const common = { id, format: 'xlsx', filename: '四月.xlsx', actor: '佐藤', last_merged_at: null };
    expect(branches.slice(0, 2)).toMatchObject([
      { ...common, table: '売上明細', base_version: 3, row_count: 3 },
      { ...common, table: '経費/4月', base_version: 2, row_count: 1 },
    ]);
    const first = await listBranches({ limit: 1 });
    const second = await listBranches({ limit: 1, cursor: first.next_cursor ?? '' });
    expect([first.branches[0]?.table, second.branches[0]?.table]).toEqual(['売上明細', '経費/4月']);
    const { rows } = await api.sql.query(
      "SELECT type, data FROM outbox WHERE type = 'version.branched' AND data->>'branch_id' = $1 ORDER BY seq",
      [id],
    );
    expect(rows).toMatchObject([
      { data: { name: '売上明細', edit_version: 3, branch_id: id } },
      { data: { name: '経費/4月', edit_version: 2 } },
    ]);
  });

  it('repeats nothing: the same request gets the same tables under the same branch', async () => {
    const key = 'branch-once';
    const first = await take(body, { key });
    const count = (await listBranches({ limit: 1000 })).branches.length;
    ok(await sales.upsert([{ __svc_row_id: 1, 金額: 1 }]));
    const again = await take(body, { key });
    expect(again.bytes.equals(first.bytes)).toBe(true);
    expect([again.header('x-svc-branch-id'), again.header('idempotency-replayed')]).toEqual([first.header('x-svc-branch-id'), 'true']);
    expect((await listBranches({ limit: 1000 })).branches.length).toBe(count);
    const other = await send({ ...body, format: 'csv' }, { key });
    expect([other.status, await typeOf(other)]).toEqual([422, 'urn:svc:problem:idempotency-mismatch']);
  });

  it('sent twice at once, is recorded once', async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => send(body, { key: 'at-once' })));
    const ids = new Set<string | null>();
    for (const answer of answers) {
      await answer.arrayBuffer();
      if (answer.status === 200) ids.add(answer.headers.get('x-svc-branch-id'));
      else expect(answer.status).toBe(409);
    }
    expect(ids.size).toBe(1);
  });

  it('needs the right to write', async () => {
    const reader = await mintToken(world.owner.client, { scopes: ['workbooks:read'] });
    const answer = await send(body, { token: reader.text });
    expect([answer.status, await typeOf(answer)]).toEqual([403, 'urn:svc:problem:missing-scope']);
    expect((await send({ ...body, record_branch: false }, { token: reader.text })).status).toBe(200);
  });

  it('is refused for derived tables, which can be exported', async () => {
    await world.makeTable('集計', [{ name: 'a' }]);
    await api.sql.query("UPDATE tables SET layer = 'derived' WHERE name = '集計'");
    const before = (await listBranches({ limit: 1000 })).branches.length;
    const answer = await send({ ...body, tables: ['売上明細', '集計'] });
    expect([answer.status, await typeOf(answer)]).toEqual([400, 'urn:svc:problem:derived-cannot-branch']);
    expect((await listBranches({ limit: 1000 })).branches.length).toBe(before);
    await take({ tables: ['集計'], format: 'xlsx' });
  });

  it('keeps the versions that it refers to', async () => {
    const table = await world.makeTable('枝', [{ name: 'a' }]);
    for (let n = 1; n < 5; n += 1) {
      if (n === 3) await take({ tables: ['枝'], format: 'csv', record_branch: true });
      ok(await table.upsert([{ a: `${n}` }]));
    }
    await api.sql.query(
      "UPDATE table_versions SET created_at = now() - interval '60 days' WHERE table_id = (SELECT id FROM tables WHERE name = '枝')",
    );
    await collectVersions(api.services, { heartbeat() {} } as never);
    const { rows } = await api.sql.query<{ v: string }>(
      "SELECT edit_version AS v FROM table_versions WHERE table_id = (SELECT id FROM tables WHERE name = '枝') ORDER BY 1",
    );
    expect(rows.map(({ v }) => Number(v))).toEqual([3, 5]);
  });

  it('of a cursor that is none is refused', async () => {
    const answer = await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/branches', {
      params: { ...listed.params, query: { cursor: 'x' } },
    });
    refused(answer, 422, 'validation-failed');
  });
});
