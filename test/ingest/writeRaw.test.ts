import { existsSync, readdirSync } from 'node:fs';
import { rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RawSheet } from '../../activities/ingest/writeRaw.ts';
import { nameColumn } from '../../core/a1/address.ts';
import { readCsv } from '../../store/csv/index.ts';
import { readWorkbook } from '../../store/xlsx/index.ts';
import { escapeXml, makeBook } from '../xlsx/makeWorkbook.ts';
import { expectedKept, expectedRows, openRawStore, type RawStore, type WriteOptions } from './rawStore.ts';

let store: RawStore;
beforeAll(async () => {
  store = await openRawStore();
});
afterAll(() => store.close());

/** Removes what the test before has kept. */
beforeEach(async () => {
  for await (const { key } of store.blobs.list('')) await store.blobs.remove(key);
});

async function writeOne(bytes: Uint8Array, options?: WriteOptions): Promise<RawSheet> {
  const { sheets } = await store.write(bytes, options);
  const [sheet] = sheets;
  if (!sheet || sheets.length > 1) throw new Error(`${sheets.length} sheets`);
  return sheet;
}

const inline = (at: string, text: string): string =>
  `<c r="${at}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`;

/** Every sheet of the workbook equals the raw table that structuring makes of it. */
async function expectEqual(input: Uint8Array | string, options: WriteOptions = {}): Promise<RawSheet[]> {
  const grids = (await readWorkbook(input)).sheets;
  const { sheets } = await store.write(input, options);
  expect(sheets.map(({ index, sheet }) => [index, sheet])).toEqual(
    grids.flatMap((grid, index) => (grid.size > 0 ? [[index, grid.sheet]] : [])),
  );
  for (const sheet of sheets) {
    const grid = grids[sheet.index];
    if (!grid) throw new Error('no such sheet');
    const expected = expectedRows(grid, options.rowBase);
    expect(await store.readRows(sheet)).toEqual(expected);
    expect(sheet.rowCount).toBe(expected.length);
    expect(sheet.maxRowId).toBe(expected.at(-1)?.[0]);
    expect(sheet.cells).toBe(grid.size);
    expect(sheet.columns.map(({ name }) => name)).toEqual(Array.from({ length: sheet.columns.length }, (_, i) => nameColumn(i + 1)));
    expect(await store.readKept(sheet)).toEqual(expectedKept(grid));
  }
  return sheets;
}

describe('writeRaw: a raw table', () => {
  it('holds texts as they are shown, and beside them what the texts do not tell', async () => {
    const book = makeBook({
      styles: ['0', '#,##0', 'yyyy/m/d', '0.0%', '@"様"', 'h:mm', 'yyyy-mm-dd'],
      sheets: [
        `<row r="1">${inline('A1', '品目')}${inline('B1', ' "引用", 改\n行 ')}</row>
         <row r="3"><c r="A3" s="1"><v>1234567</v></c><c r="B3" s="2"><v>45383</v></c><c r="C3" s="3"><v>0.125</v></c><c r="E3" t="b"><v>1</v></c></row>
         <row r="4"><c r="A4"><f>A3*2</f><v>2469134</v></c><c r="B4" t="str"><f>""</f><v></v></c><c r="C4" t="e"><f>1/0</f><v>#DIV/0!</v></c></row>
         <row r="5"><c r="A5" s="4" t="inlineStr"><is><t>田中</t></is></c><c r="B5" s="5"><v>0.40625</v></c><c r="C5"><v>123456789012.5</v></c><c r="D5" s="6"><v>45383</v></c></row>`,
      ],
    });
    const sheet = await writeOne(book);
    expect(await store.readRows(sheet)).toEqual([
      [1, '品目', ' "引用", 改\n行 ', null, null, null],
      [3, '1,234,567', '2024/4/1', '12.5%', null, 'TRUE'],
      [4, '2469134', '', '#DIV/0!', null, null],
      [5, '田中様', '9:45', '1.23457E+11', '2024-04-01', null],
    ]);
    expect(await store.readKept(sheet)).toEqual([
      [3, 1, '1234567', null],
      [3, 2, '2024-04-01', null],
      [3, 3, '0.125', null],
      [4, 1, '2469134', 'A3*2'],
      [4, 2, '', '""'],
      [4, 3, '#DIV/0!', '1/0'],
      [5, 1, '田中', null],
      [5, 2, '09:45:00', null],
      [5, 3, '123456789012.5', null],
    ]);
    expect(sheet).toMatchObject({ sheet: 'Sheet1', rowCount: 4, maxRowId: 5, cells: 13, kept: { formulas: 3, values: 6 } });
    expect(sheet.columns).toEqual(['A', 'B', 'C', 'D', 'E'].map((name) => ({ name, type: 'VARCHAR' })));
    expect(sheet.layers).toEqual([{ kind: 'segment', key: expect.any(String), rows: 4, minRow: 1, maxRow: 5, bytes: expect.any(Number) }]);
    await expectEqual(book);
  });

  it('keeps what is shown and stored of numbers and dates that come again, in columns side by side', async () => {
    const rows = Array.from({ length: 300 }, (_, i) => {
      const r = i + 1;
      const [day, rate, amount] = [45_000 + (i % 7), (i % 5) / 8, ((i * 7919) % 11) / 4];
      return `<row r="${r}"><c r="A${r}" s="2"><v>${day}</v></c><c r="B${r}" s="3"><v>${rate}</v></c><c r="C${r}" s="1"><v>${amount}</v></c><c r="D${r}" s="${i % 4}"><v>${i % 2 ? day : rate}</v></c></row>`;
    });
    await expectEqual(makeBook({ styles: ['0', '#,##0.00', 'yyyy/m/d', '0%'], sheets: [rows.join('')] }));
  });

  it('has nothing beside it where the texts tell all', async () => {
    const sheet = await writeOne(makeBook({ sheets: [`<row r="1">${inline('A1', 'x')}<c r="B1"><v>1.5</v></c></row>`] }));
    expect(sheet.kept).toBeNull();
    expect(await store.listFiles()).toHaveLength(1);
  });

  it('counts row ids from a base beyond 32 bits', async () => {
    const rowBase = 5_000_000_000;
    const book = makeBook({ sheets: [`<row r="2"><c r="A2"><f>1+1</f><v>2</v></c></row><row r="9">${inline('A9', 'x')}</row>`] });
    const [sheet] = await expectEqual(book, { rowBase });
    expect(sheet).toMatchObject({ maxRowId: rowBase + 9, layers: [{ minRow: rowBase + 2, maxRow: rowBase + 9 }] });
    expect(sheet && (await store.readKept(sheet))).toEqual([[2, 1, '2', '1+1']]);
  });

  it('is made for each sheet that has a cell, below the prefix of that sheet', async () => {
    const cell = `<row r="1">${inline('A1', 'x')}</row>`;
    const sheets = await expectEqual(makeBook({ sheets: [cell, '<row r="1"><c r="A1" s="0"/></row>', { name: '三', xml: cell }] }));
    expect(sheets.map(({ index }) => index)).toEqual([0, 2]);
    expect(sheets.map(({ layers }) => layers[0]?.kind === 'segment' && layers[0].key.split('/')[2])).toEqual(['tbl_0', 'tbl_2']);
  });

  it('is right when rows and cells of the file are in disorder or come twice', async () => {
    const rows = Array.from(
      { length: 9000 },
      (_, i) => `<row r="${9001 - i}"><c r="B${9001 - i}"><v>${i}</v></c>${inline(`A${9001 - i}`, `t${i}`)}</row>`,
    );
    const [sheet] = await expectEqual(makeBook({ sheets: [`${rows.join('')}<row r="5">${inline('A5', 'last')}</row>`] }), {
      limits: { groupRows: 1000 },
    });
    expect(sheet).toMatchObject({ rowCount: 9000, cells: 18_000 });
    expect(await store.listFiles()).toHaveLength(1);
  });

  it('is cut into segments by rows and by size, whose columns may differ', async () => {
    const row = (n: number): string =>
      `<row r="${n}">${inline(`${n < 600 ? 'A' : 'C'}${n}`, `text ${n}`)}${n === 900 ? inline('ZZ900', 'far') : ''}</row>`;
    const book = makeBook({ sheets: [Array.from({ length: 1000 }, (_, i) => row(i + 1)).join('')] });
    const [byRows] = await expectEqual(book, { limits: { groupRows: 100, fileRows: 350 } });
    expect(byRows?.layers.map((layer) => layer.kind === 'segment' && [layer.rows, layer.minRow, layer.maxRow])).toEqual([
      [300, 1, 300],
      [300, 301, 600],
      [300, 601, 900],
      [100, 901, 1000],
    ]);
    const [bySize] = await expectEqual(book, { limits: { groupBytes: 2000, fileBytes: 8000 } });
    expect(bySize?.layers.length).toBeGreaterThan(3);
    for (const layer of bySize?.layers ?? []) expect(layer.kind === 'segment' && layer.bytes).toBeLessThan(8000);
    const [byChunks] = await expectEqual(book, { limits: { groupRows: 10, fileChunks: 100 } });
    expect(byChunks?.layers.length).toBeGreaterThan(1);
  });

  it('may be as wide as a sheet', async () => {
    const row = (n: number): string =>
      `<row r="${n}">${Array.from({ length: 16_384 }, (_, i) => `<c r="${nameColumn(i + 1)}${n}"><v>${i * n}</v></c>`).join('')}</row>`;
    const sheet = await writeOne(makeBook({ sheets: [[1, 2, 3].map(row).join('')] }));
    expect(sheet).toMatchObject({ rowCount: 3, cells: 3 * 16_384, kept: null });
    expect(sheet.columns.at(-1)?.name).toBe('XFD');
    const narrow = { ...sheet, columns: sheet.columns.slice(0, 3) };
    expect(await store.readRows(narrow)).toEqual([1, 2, 3].map((n) => [n, '0', String(n), String(2 * n)]));
  });

  it('keeps control characters but U+0000; half a character becomes the mark for it', async () => {
    const texts = ['a_x0000_b', '_x0000_', '_x0001__x000D_', '_xD83D_', '_xD83D__xDE00_'];
    const [sheet] = await expectEqual(
      makeBook({ sheets: [`<row r="1">${texts.map((text, i) => inline(`${nameColumn(i + 1)}1`, text)).join('')}</row>`] }),
    );
    expect(sheet && (await store.readRows(sheet))).toEqual([[1, 'ab', null, '\u0001\r', '\ufffd', '\u{1f600}']]);
  });

  it('finds a row without reading the others', async () => {
    const book = makeBook({
      sheets: [Array.from({ length: 500 }, (_, i) => `<row r="${i + 1}"><c r="A${i + 1}"><v>${i}</v></c></row>`).join('')],
    });
    const sheet = await writeOne(book, { limits: { groupRows: 100 } });
    const [layer] = sheet.layers;
    if (layer?.kind !== 'segment') throw new Error('no segment');
    const opened = await store.blobs.open([layer.key]);
    const bounds = await store.engine.use((connection) =>
      connection.runAndReadAll(
        `SELECT stats_min_value, stats_max_value FROM parquet_metadata('${opened.pathOf(layer.key)}') WHERE column_id = 0 ORDER BY row_group_id`,
      ),
    );
    expect(bounds.getRows()).toEqual([0, 1, 2, 3, 4].map((group) => [String(100 * group + 1), String(100 * group + 100)]));
  });

  it('costs nothing for a million styled rows without a cell', async () => {
    const blank = Array.from({ length: 1_000_000 }, (_, i) => `<row r="${i + 3}" s="1" customFormat="1"/>`).join('');
    const book = makeBook({ styles: ['0', '0'], sheets: [`<row r="1">${inline('A1', 'x')}</row><row r="2"/>${blank}`] });
    const sheet = await writeOne(book);
    expect(sheet).toMatchObject({ rowCount: 1, maxRowId: 1, cells: 1 });
  });

  it('equals the raw table of structuring, whatever is in the cells', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constantFrom('', ' x ', '日本語', '\u{1f600}', "'", '\\N', 'NULL', 'a'.repeat(2000), 'あ'.repeat(700)),
    );
    const safe = text.map((s) => s.replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '·'));
    const value = fc.oneof(
      safe.map(
        (s) => (at: string, style: number) =>
          `<c r="${at}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(s)}</t></is></c>`,
      ),
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .map((n) => (at: string, style: number) => `<c r="${at}" s="${style}"><v>${n}</v></c>`),
      fc.nat(60_000).map((n) => (at: string, style: number) => `<c r="${at}" s="${style}"><v>${n / 7}</v></c>`),
      fc.boolean().map((b) => (at: string, style: number) => `<c r="${at}" s="${style}" t="b"><v>${b ? 1 : 0}</v></c>`),
      safe.map(
        (s) => (at: string, style: number) => `<c r="${at}" s="${style}" t="str"><f>"${escapeXml(s)}"</f><v>${escapeXml(s)}</v></c>`,
      ),
    );
    const styles = [
      '0',
      '#,##0',
      '0.00',
      'yyyy/m/d',
      'h:mm:ss.00',
      '[$-411]ggge"年"m"月"d"日"',
      '0.00E+00',
      '# ?/?',
      '"<"@">"',
      '#,##0;△#,##0;"-"',
    ];
    const cell = fc.record({
      row: fc.integer({ min: 1, max: 40 }),
      column: fc.integer({ min: 1, max: 30 }),
      style: fc.nat(styles.length - 1),
      value,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(cell, { maxLength: 60 }), async (cells) => {
        const xml = cells.map((c) => `<row r="${c.row}">${c.value(`${nameColumn(c.column)}${c.row}`, c.style)}</row>`).join('');
        await expectEqual(makeBook({ styles, sheets: [xml] }), { limits: { groupRows: 7 } });
      }),
      { numRuns: 60 },
    );
  });
});

const shared = join(import.meta.dirname, '../../../shared/structuring');
if (!existsSync(shared)) console.warn('SKIPPED: ../shared/structuring is not there, so raw tables of real workbooks are not compared');

describe.skipIf(!existsSync(shared))('writeRaw: raw tables of real workbooks', () => {
  it('equal those of structuring', { timeout: 300_000 }, async () => {
    const files = readdirSync(shared, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.xlsx'))
      .sort();
    const sample = files.filter((name, i) => i % 60 === 0 || /golden|unlabelled.japanese/.test(name));
    for (const name of sample) await expectEqual(join(shared, name));
    expect(sample.length).toBeGreaterThan(25);
  });
});

describe('writeRaw: delimited text', () => {
  const table = '番号,氏名,備考\r\n1,髙橋,"改\n行, ""引用"""\r\n\r\n3,,はい\r\n';
  const encoded: [name: string, bytes: Uint8Array, encoding: string][] = [
    ['UTF-8', Buffer.from(table), 'utf-8'],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${table}`), 'utf-8'],
    ['UTF-16', Buffer.from(`\ufeff${table}`, 'utf16le'), 'utf-16le'],
    ['Shift_JIS', Buffer.from('94D48D862C8E8196BC0D0A312C8D8293B40D0A', 'hex'), 'shift_jis'],
    ['EUC-JP', Buffer.from('C8D6B9E62CBBE1CCBE0D0A312CB9E2B6B60D0A', 'hex'), 'euc-jp'],
  ];
  it.each(encoded)('in %s', async (_, bytes, encoding) => {
    const { sheets, ...found } = await store.write(bytes, { file: { format: 'csv', filename: '名簿.csv' } });
    expect(found).toEqual({ encoding, delimiter: ',' });
    const { grid } = await readCsv(bytes, { filename: '名簿.csv' });
    expect(sheets[0]).toMatchObject({ index: 0, sheet: '名簿', kept: null, cells: grid.size });
    expect(sheets[0] && (await store.readRows(sheets[0]))).toEqual(expectedRows(grid));
  });

  it('leaves out blank rows and keeps the numbers of the others', async () => {
    const sheet = await writeOne(Buffer.from(table), { file: { format: 'csv', filename: 'a.csv' } });
    expect(await store.readRows(sheet)).toEqual([
      [1, '番号', '氏名', '備考'],
      [2, '1', '髙橋', '改\n行, "引用"'],
      [4, '3', null, 'はい'],
    ]);
  });

  it('is taken with the encoding and delimiter that are given', async () => {
    const file = { format: 'csv', filename: 'a.csv', delimiter: ';', encoding: 'shift_jis' } as const;
    const sheet = await writeOne(Buffer.from('a,b;c,d\n'), { file });
    expect(await store.readRows(sheet)).toEqual([[1, 'a,b', 'c,d']]);
  });

  it('is separated by tabs in a tsv, whatever its name', async () => {
    const { sheets, delimiter } = await store.write(Buffer.from('a\tb,c\n'), { file: { format: 'tsv', filename: 'export.txt' } });
    expect(delimiter).toBe('\t');
    expect(sheets[0] && (await store.readRows(sheets[0]))).toEqual([[1, 'a', 'b,c']]);
  });

  it('has no raw table without a cell', async () => {
    expect((await store.write(Buffer.from('\n\n,,\n'), { file: { format: 'csv', filename: 'a.csv' } })).sheets).toEqual([]);
    expect(await store.listFiles()).toEqual([]);
  });
});

describe('writeRaw: what goes wrong', () => {
  const many = (rows: number): string =>
    Array.from({ length: rows }, (_, i) => `<row r="${i + 1}"><c r="A${i + 1}"><f>1</f><v>${i}</v></c></row>`).join('');
  const damaged = (): Buffer =>
    makeBook({
      sheets: [many(30_000), many(10)],
      change: (part) => (part.name.endsWith('sheet2.xml') ? { ...part, claimedCrc: 1 } : part),
    });
  const long = (letters: number, cells: number): Buffer =>
    makeBook({
      strings: `<si><t>${'x'.repeat(letters)}</t></si>`,
      sheets: [`<row r="1">${inline('A1', 'x')}</row><row r="2">${'<c t="s"><v>0</v></c>'.repeat(cells)}</row>`],
    });
  const csv = { file: { format: 'csv', filename: 'a.csv' } } as const;
  const cases: [name: string, bytes: () => Uint8Array, code: string, options?: WriteOptions][] = [
    ['an empty file', () => Buffer.alloc(0), 'validation-failed'],
    ['not a zip', () => Buffer.from([1, 2, 0, 4]), 'unsupported-media'],
    ['a zip cut off', () => makeBook({ sheets: [many(10)] }).subarray(0, 300), 'validation-failed'],
    ['a second sheet that is damaged', damaged, 'validation-failed'],
    ['a sheet cut off', () => makeBook({ sheets: [`<?xml version="1.0"?><worksheet><sheetData>${many(30_000)}`] }), 'validation-failed'],
    ['a DOCTYPE', () => makeBook({ sheets: ['<!DOCTYPE x [<!ENTITY a "b">]><worksheet/>'] }), 'validation-failed'],
    ['a row of endless texts', () => long(1_000_000, 40), 'too-large'],
    ['a long text in many cells', () => long(100_000, 300), 'too-large', { limits: { totalBytes: 10_000_000 } }],
    ['a column too far', () => makeBook({ sheets: ['<row r="1"><c r="XFE1"><v>1</v></c></row>'] }), 'too-large'],
    ['an empty csv', () => Buffer.alloc(0), 'validation-failed', csv],
    ['a csv with a NUL', () => Buffer.from(`${'a,b\n'.repeat(100_000)}a,\0\n`), 'validation-failed', csv],
    ['a csv with an open quote', () => Buffer.from(`${'a,b\n'.repeat(20_000)}"a,b\n`), 'validation-failed', csv],
    ['a csv that is a workbook', () => makeBook({ sheets: [many(1)] }), 'unsupported-media', csv],
    ['a csv of an unknown encoding', () => Buffer.from([0x61, 0xff, 0xfe, 0xff, 0xff, 0x0a]), 'validation-failed', csv],
  ];
  it.each(cases)('%s: a clear refusal, nothing left behind', async (_, bytes, code, options) => {
    await expect(store.write(bytes(), options)).rejects.toMatchObject({ code, suggestedFix: expect.stringMatching(/./) });
    expect(await store.listFiles()).toEqual([]);
  });

  it('a file over 100 MiB: refused before it is read', async () => {
    const path = join(tmpdir(), `large-${process.pid}.xlsx`);
    await writeFile(path, 'PK\u0003\u0004');
    await truncate(path, 100 * 1024 * 1024 + 1);
    await expect(store.write(path)).rejects.toMatchObject({ code: 'too-large' });
    await rm(path);
  });

  it.each([1, 3, 4])('cancelled after step %i: ends at once, nothing left behind', async (steps) => {
    const controller = new AbortController();
    let seen = 0;
    const step = (): void => {
      seen += 1;
      if (seen === steps) controller.abort();
    };
    const book = makeBook({ sheets: [many(20_000), many(30_000)] });
    const options = { watch: { step, signal: controller.signal }, limits: { groupRows: 1000, fileRows: 5000 } };
    await expect(store.write(book, options)).rejects.toThrow(/abort/);
    expect(seen).toBe(steps);
    expect(await store.listFiles()).toEqual([]);
  });

  it('cancelled before it begins', async () => {
    await expect(store.write(makeBook({ sheets: [many(1)] }), { watch: { signal: AbortSignal.abort() } })).rejects.toThrow(/abort/);
  });

  it('a full disk or a store that is away: the error of the store, nothing left behind', async () => {
    const puts = store.blobs.put;
    let calls = 0;
    store.blobs.put = async (...args) => {
      calls += 1;
      if (calls === 3) throw new Error('no space left');
      return puts.apply(store.blobs, args);
    };
    try {
      const limits = { groupRows: 1000, fileRows: 5000 };
      await expect(store.write(makeBook({ sheets: [many(20_000)] }), { limits })).rejects.toThrow('no space left');
    } finally {
      store.blobs.put = puts;
    }
    expect(await store.listFiles()).toEqual([]);
  });

  it('says how many bytes of the sheets are done, up to all of them', async () => {
    const steps: number[] = [];
    const totals = new Set<number | null>();
    const step = (done: number, total: number | null) => {
      steps.push(done);
      totals.add(total);
    };
    await store.write(makeBook({ sheets: [many(50_000), many(10)] }), { watch: { step } });
    expect([...totals]).toEqual([steps.at(-1)]);
    expect(steps.at(-1)).toBeGreaterThan(50_010);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
    expect(steps.length).toBeGreaterThan(2);
  });
});
