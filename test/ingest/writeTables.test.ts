import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WrittenTable } from '../../activities/ingest/landTables.ts';
import { type TableLimits, tableLimits, writeTables } from '../../activities/ingest/writeTables.ts';
import { CellKind, type Grid } from '../../core/grid/grid.ts';
import { analyze, build, buildSelected, byColumn, listRows, type OutputTable, type ParseSpec } from '../../core/structuring/index.ts';
import type { Layer } from '../../core/table/table.ts';
import type { BlobStore } from '../../store/blobs/blobStore.ts';
import { openFolderStore } from '../../store/blobs/folderStore.ts';
import { type Engine, openEngine } from '../../store/duckdb/engine.ts';
import { quoteText } from '../../store/duckdb/relation.ts';
import { writeLines } from '../../store/duckdb/writeFile.ts';
import { readPlacements } from '../../store/tables/readPlacements.ts';
import { provenanceColumns, readRawCells, readRowCells } from '../../store/tables/sourceCells.ts';
import { readSourceLayout } from '../../store/tables/sourceLayout.ts';
import { drawGrid, makeGrid } from '../structuring/picture.ts';

let folder: string;
let storage: { engine: Engine; blobs: BlobStore };
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-test-tables-'));
  storage = { engine: await openEngine({ connections: 2, memoryLimitMb: 1024 }), blobs: await openFolderStore(folder) };
});
afterAll(async () => {
  await storage.engine.close();
  await storage.blobs.close();
  await rm(folder, { recursive: true, force: true });
});

const keyOf = (table: WrittenTable) => table.provenanceKey ?? '';
type Segment = Extract<Layer, { kind: 'segment' }>;
const segmentsOf = (table: WrittenTable) => table.layers as Segment[];

/** In the order of the file. */
async function readFile(key: string, select = '*'): Promise<unknown[][]> {
  const opened = await storage.blobs.open([key]);
  try {
    return await storage.engine.use(async (connection) =>
      (await connection.runAndReadAll(`SELECT ${select} FROM read_parquet(${quoteText(opened.pathOf(key))})`)).getRows(),
    );
  } finally {
    opened.release();
  }
}

async function readRows(table: WrittenTable): Promise<unknown[][]> {
  const parts = await Promise.all(segmentsOf(table).map(({ key }) => readFile(key, 'CAST(COLUMNS(*) AS VARCHAR)')));
  return parts.flat();
}

/** Rows whose id is below the one before: in a file that is in order there are none. */
async function countSteps(key: string, id: string): Promise<unknown> {
  const opened = await storage.blobs.open([key]);
  const source = `read_parquet(${quoteText(opened.pathOf(key))}, file_row_number = true)`;
  const reader = await storage.engine.use((connection) =>
    connection.runAndReadAll(
      `SELECT count(*) FILTER (${id} < before) FROM (SELECT ${id}, lag(${id}) OVER (ORDER BY file_row_number) AS before FROM ${source})`,
    ),
  );
  opened.release();
  return reader.getRows()[0]?.[0];
}

const place = (tables: OutputTable[]) =>
  tables.map((table, index) => ({
    tableId: `t${index}`,
    prefix: `acc/wb/t${index}`,
    rowBase: index * 100,
    columnIds: table.columns.map((_, k) => k + 1),
  }));
const still = { step() {} };
const write = (grids: Grid[], tables: OutputTable[], limits?: TableLimits) =>
  writeTables(storage, grids, tables, place(tables), still, limits);
const structure = (grids: Grid[], file = 'f.xlsx') => build(grids, analyze(grids, file), file).tables;

async function listFiles(): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

describe('writeTables: structured tables as files', () => {
  it('hold every value in the type of its column, in order', async () => {
    const grid = drawGrid(
      `
      名前 | 数 | 率 | 日 | 時刻 | 対 | 額 | 時 | 形
      "a","b" | 1 | 0.5 | @2024-04-01 | 2024-04-01 09:30 | x | 1.5 | '9:05 | {"a": 1}
      \\N | -2 | 1e3円 | @2024-05-01 | 2024-05-01 | y | 2 | '10:00 | [1]
    `,
    );
    // A boolean column cannot be drawn.
    for (let i = 0; i < grid.size; i += 1)
      if (grid.columns[i] === 6 && (grid.rows[i] ?? 0) > 1) {
        grid.kinds[i] = CellKind.boolean;
        grid.numbers[i] = grid.rows[i] === 2 ? 1 : 0;
      }
    const types = ['VARCHAR', 'BIGINT', 'DOUBLE', 'DATE', 'TIMESTAMP', 'BOOLEAN', 'DECIMAL(10,2)', 'TIME', 'JSON'];
    const spec: ParseSpec = {
      version: 1,
      reader: { format: 'xlsx' },
      regions: [
        {
          id: 'r1',
          sheet: 'Sheet1',
          range: 'A1:I3',
          kind: 'data',
          name: '表',
          header_rows: [1],
          data_range: 'A2:I3',
          orientation: 'rows',
          columns: types.map((type, k) => ({ name: `列${k}`, from: 'ABCDEFGHI'.charAt(k), type })),
          selected: true,
        },
      ],
    };
    grid.strings = grid.strings.map((text) => (text === '\\\\N' ? '\\N' : text === '1e3円' ? '1,000円' : text));
    grid.strings[grid.strings.indexOf('"a","b"')] = 'zwei\r\nZeilen, "und"\nmehr';
    const built = buildSelected([grid], spec, null);
    expect(built.misfits).toEqual([]);
    const [table] = await write([grid], built.tables);
    if (!table) throw new Error('no table');
    expect(table).toMatchObject({
      name: '表',
      role: 'data',
      sheet: 'Sheet1',
      regionId: 'r1',
      range: 'A1:I3',
      rowCount: 2,
      maxRowId: 2,
      kept: null,
    });
    expect(await readRows(table)).toEqual([
      ['1', 'zwei\r\nZeilen, "und"\nmehr', '1', '0.5', '2024-04-01', '2024-04-01 09:30:00', 'true', '1.50', '09:05:00', '{"a": 1}'],
      ['2', '\\N', '-2', '1000.0', '2024-05-01', '2024-05-01 00:00:00', 'false', '2.00', '10:00:00', '[1]'],
    ]);
    const [segment] = segmentsOf(table);
    const schema = await storage.engine.use(async (connection) => {
      const opened = await storage.blobs.open([segment?.key ?? '']);
      const path = quoteText(opened.pathOf(segment?.key ?? ''));
      const fields = await connection.runAndReadAll(
        `SELECT name, field_id::INTEGER FROM parquet_schema(${path}) WHERE field_id IS NOT NULL`,
      );
      const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM read_parquet(${path})`);
      return { fields: fields.getRows(), types: described.getRows().map((row) => row[1]) };
    });
    expect(schema.fields.slice(0, 2)).toEqual([
      ['__svc_row_id', 0],
      ['c1', 1],
    ]);
    expect(schema.types).toEqual(['BIGINT', ...types]);
  });

  it('are cut into segments by rows and by bytes', async () => {
    const grid = makeGrid([['名', '数'], ...Array.from({ length: 1000 }, (_, n) => [`行${n} ${'x'.repeat(100)}`, String(n)])]);
    const tables = structure([grid]);
    const [byRows] = await write([grid], tables, { ...tableLimits, fileRows: 300 });
    expect(byRows && segmentsOf(byRows).map(({ rows, minRow, maxRow }) => [rows, minRow, maxRow])).toEqual([
      [300, 1, 300],
      [300, 301, 600],
      [300, 601, 900],
      [100, 901, 1000],
    ]);
    const [byBytes] = await write([grid], tables, { ...tableLimits, fileBytes: 40_000 });
    if (!byRows || !byBytes) throw new Error('no table');
    expect(segmentsOf(byBytes).length).toBeGreaterThan(3);
    for (const { bytes } of segmentsOf(byBytes)) expect(bytes).toBeLessThanOrEqual(40_000);
    expect(await readRows(byBytes)).toEqual(await readRows(byRows));
  });

  it('may be empty', async () => {
    const grid = drawGrid('a|b\nx|1\ny|2');
    const tables = structure([grid]).map((table) => ({
      ...table,
      ...byColumn([], table.columns.length),
      provenance: { offsets: [0], cells: [], columns: [] },
    }));
    const [table] = await write([grid], tables);
    expect(table).toMatchObject({ rowCount: 0, maxRowId: 0, layers: [], kept: null });
    expect(await readFile(table?.provenanceKey ?? '')).toEqual([]);
  });

  it('leave nothing behind when they are stopped or fail', async () => {
    const grid = drawGrid('*表題\na|b\nx|1\ny|2\nz|3');
    const tables = structure([grid]);
    expect(tables).toHaveLength(2);
    const before = await listFiles();
    const stop = new AbortController();
    const steps: [number, number][] = [];
    const watch = {
      signal: stop.signal,
      step(done: number, total: number) {
        steps.push([done, total]);
        if (done === 3) stop.abort(new Error('stopped'));
      },
    };
    await expect(writeTables(storage, [grid], tables, place(tables), watch)).rejects.toThrow('stopped');
    expect(steps[0]).toEqual([0, 4]);
    const broken = tables.map((table, k) =>
      k === 1 ? { ...table, columns: [{ name: 'x', type: 'BIGINT' }], ...byColumn([['no number']], 1) } : table,
    );
    await expect(write([grid], broken)).rejects.toThrow();
    await expect(write([], tables)).rejects.toThrow('no grid');
    await expect(write([grid], tables, { ...tableLimits, columns: 3 })).rejects.toMatchObject({ code: 'too-large' });
    expect(await listFiles()).toEqual(before);
  });
});

describe('readRowCells: where rows came from', () => {
  const grid = drawGrid(
    `
    *売上推移
    店 | 地区 | 2023年度 |      | 2024年度 |
       |      | 売上     | 数量 | 売上     | 数量
    東 | 関東 | 10       | 1    | =C4*2~20 | 2
    西 | 関西 | 30       | 3    | =C5+10~40 |
  `,
    { sheet: '推移' },
  );

  it('is told by ranges of the sheet and columns of the table', async () => {
    const [long, notes] = await write([grid], structure([grid]));
    if (!long || !notes) throw new Error('no tables');
    expect(long.columns.map((column) => column.name)).toEqual(['店', '地区', '期間', '期間開始', '売上', '数量']);
    expect(await readRowCells(storage, keyOf(long), 2, 100)).toEqual([
      { range: 'E2', columnIds: [3] },
      { range: 'A4:B4', columnIds: [1, 2] },
      { range: 'E4:F4', columnIds: [5, 6] },
    ]);
    expect(await readRowCells(storage, keyOf(long), 2, 1)).toHaveLength(1);
    expect(await readRowCells(storage, keyOf(long), 99, 10)).toEqual([]);
    // The second table begins behind its base.
    expect(notes.maxRowId).toBe(101);
    expect(await readRowCells(storage, keyOf(notes), 1, 10)).toEqual([{ range: 'A1', columnIds: [3] }]);
  });

  it('takes one block for a list, however long', async () => {
    const list = makeGrid([['a', 'b', 'c'], ...Array.from({ length: 500 }, (_, n) => [`x${n}`, String(n), n === 300 ? '' : 'y'])]);
    const [table] = await write([list], structure([list]));
    if (!table) throw new Error('no table');
    // Above and below the row with a blank, and that row.
    const fields = provenanceColumns.map(({ name }) => `CAST(${name} AS INTEGER)`).join(', ');
    expect(await readFile(keyOf(table), fields)).toEqual([
      [1, 300, 1, 2, 1, 3],
      [301, 1, 1, 302, 1, 2],
      [302, 199, 1, 303, 1, 3],
    ]);
    expect(await readRowCells(storage, keyOf(table), 250, 10)).toEqual([{ range: 'A251:C251', columnIds: [1, 2, 3] }]);
    expect(await readRowCells(storage, keyOf(table), 301, 10)).toEqual([{ range: 'A302:B302', columnIds: [1, 2] }]);
    expect(await readPlacements(storage, keyOf(table), 5000)).toHaveLength(1499);
  });

  it('is read from files of earlier releases, which have a row for each cell', async () => {
    const columns = ['row_number', 'column_id', 'sheet_row', 'sheet_column'].map((name, k) => ({ id: k + 1, name, type: 'BIGINT' }));
    const { key } = await writeLines(storage, 'a/w/t', columns, ['1,1,2,1', '1,2,2,2', '2,1,3,1']);
    expect(await readRowCells(storage, key, 1, 10)).toEqual([{ range: 'A2:B2', columnIds: [1, 2] }]);
    expect(await readPlacements(storage, key, 10)).toHaveLength(3);
    expect((await readSourceLayout(storage, key)).rows).toEqual([
      [2, 1],
      [3, 2],
    ]);
  });

  it('keeps formulas beside the values', async () => {
    const [long, notes] = await write([grid], structure([grid]));
    expect(long?.kept).toMatchObject({ formulas: 2, values: 0 });
    expect(notes?.kept).toBeNull();
    expect(await readFile(long?.kept?.key ?? '')).toEqual([
      [2n, 5, null, 'C4*2'],
      [4n, 5, null, 'C5+10'],
    ]);
  });

  it('keeps what the sheet stores where the table shows something else', async () => {
    const shown = drawGrid('品|率\na|=1/8~0.125\nb|n/a?', { formats: { B: '0.0"倍"' } });
    const [table] = await write([shown], structure([shown]));
    expect(table?.columns[1]).toEqual({ id: 2, name: '率', type: 'VARCHAR' });
    expect(table?.kept).toMatchObject({ formulas: 1, values: 1 });
    expect(await readFile(table?.kept?.key ?? '')).toEqual([[1n, 2, '0.125', '1/8']]);
  });

  it('is the row itself for a raw table', async () => {
    const columns = [
      { name: 'A', type: 'VARCHAR' },
      { name: 'B', type: 'VARCHAR' },
      { name: 'C', type: 'VARCHAR' },
      { name: 'D', type: 'VARCHAR' },
    ];
    const raw: OutputTable = {
      name: 'raw',
      role: 'raw',
      sheet: '推移',
      regionId: null,
      range: null,
      columns,
      ...byColumn([['x', 'y', null, 'z']], 4),
      made: [],
      provenance: { offsets: [0, 0], cells: [], columns: [] },
    };
    const [table] = await writeTables(
      storage,
      [grid],
      [raw],
      [{ tableId: 'raw', prefix: 'acc/wb/raw', rowBase: 506, columnIds: [1, 2, 3, 4] }],
      still,
    );
    // Row 7 of the sheet, in a table whose ids begin behind 500.
    expect(await readRawCells(storage, table?.layers ?? [], 500, 507, 10)).toEqual([
      { range: 'A7:B7', columnIds: [1, 2] },
      { range: 'D7', columnIds: [4] },
    ]);
    expect(await readRawCells(storage, table?.layers ?? [], 500, 508, 10)).toEqual([]);
  });
});

describe('writeTables: a large table', () => {
  it('of 200,000 × 12 is written in seconds, and one row of it is found at once', async () => {
    const count = 200_000;
    const small = makeGrid([
      Array.from({ length: 12 }, (_, k) => `列${k}`),
      ...Array.from({ length: 3 }, (_, n) => Array.from({ length: 12 }, (__, k) => (k < 4 ? `文字列 ${n} ${k}` : String(n * k + k)))),
    ]);
    const [table] = structure([small]);
    if (!table) throw new Error('no table');
    const values = listRows(table);
    const big: OutputTable = {
      ...table,
      ...byColumn(
        Array.from({ length: count }, (_, n) =>
          (values[n % 3] ?? []).map((value) => (typeof value === 'number' ? value + n : `${value} ${n}`)),
        ),
        12,
      ),
      provenance: {
        offsets: Array.from({ length: count + 1 }, (_, n) => n * 12),
        cells: Array.from({ length: count * 12 }, (_, k) => 12 + (k % 36)),
        columns: Array.from({ length: count * 12 }, (_, k) => k % 12),
      },
    };
    const start = performance.now();
    const [written] = await write([small], [big]);
    const took = performance.now() - start;
    if (!written) throw new Error('no table');
    expect(written.rowCount).toBe(count);
    for (const [key, id] of [
      [keyOf(written), 'row_number'],
      [segmentsOf(written)[0]?.key ?? '', '__svc_row_id'],
    ] as const)
      expect(await countSteps(key, id)).toBe(0n);
    for (const { bytes } of segmentsOf(written)) expect(bytes).toBeLessThanOrEqual(64 * 1024 * 1024);
    await readRowCells(storage, keyOf(written), 1, 10);
    const before = performance.now();
    expect(await readRowCells(storage, keyOf(written), 123_457, 10)).toEqual([
      { range: 'A2:L2', columnIds: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] },
    ]);
    const found = performance.now() - before;
    console.log(`200,000 × 12: written in ${Math.round(took)} ms, a row found in ${Math.round(found)} ms`);
  });
});
