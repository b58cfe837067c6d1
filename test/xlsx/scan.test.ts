import { describe, expect, it } from 'vitest';
import type { RowBatch } from '../../core/grid/batch.ts';
import { CellKind } from '../../core/grid/grid.ts';
import { BlankRuns } from '../../store/xlsx/blankRuns.ts';
import { ByteWindow } from '../../store/xlsx/byteWindow.ts';
import { FormulaBudget } from '../../store/xlsx/formulaBudget.ts';
import { DEFAULT_LIMITS, scanSheet, WorkbookFile } from '../../store/xlsx/index.ts';
import { makeGrid } from '../../store/xlsx/makeGrid.ts';
import { SheetScanner } from '../../store/xlsx/sheetScan.ts';
import { StringArena } from '../../store/xlsx/stringArena.ts';
import { StringPool } from '../../store/xlsx/stringPool.ts';
import { readStyles } from '../../store/xlsx/styles.ts';
import { cellsOf, formulasOf, makeBook, makeStyles, type PlainValue } from './makeWorkbook.ts';

/** Every way of writing a cell that the scanner knows. */
const ODD_SHEET =
  '<?xml version="1.0"?><worksheet xmlns:r="x"><!-- c --><cols><col min="2" max="3" hidden="1" style="1"/></cols><sheetData>' +
  '<row r="1" spans="1:9"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>-12.5</v></c><c r="C1" t="inlineStr"><is><t xml:space="preserve"> 日本語 </t></is></c><c r="D1" t="str"><f>A1&amp;"x"</f><v>a&amp;b</v></c></row>' +
  '<!-- <c r="Z9"><v>1</v></c> --><row r="2" hidden="1"><c r="A2" s="1"><v>45383</v></c><c r="B2" t="e"><v>#N/A</v></c><c r="C2" t="b"><v>1</v></c><c r="D2" s="1"/><c r="E2" t="str"><v><![CDATA[</v></c>]]></v></c></row>' +
  '<row><c><f t="shared" ref="A3:A4" si="0">B1*2</f><v>1.7976931348623157E308</v></c><c t="inlineStr"><is><r><t>ri</t></r><r><t>ch_x000D_</t></r><rPh sb="0" eb="1"><t>no</t></rPh></is></c></row>' +
  '<row r="4"><c r="A4"><f t="shared" si="0"/><v>0.30000000000000004</v></c><c r="B4"><f t="array" ref="B4:C4">X1:Y1</f><v>1</v></c><c r="C4"><v>2</v><extLst><ext><v>3</v></ext></extLst></c></row>' +
  '</sheetData><mergeCells count="1"><mergeCell ref="A1:B2"/></mergeCells></worksheet>';

function scanInChunks(xml: string, chunks: number[], whole = true): unknown {
  const shared = new StringArena();
  shared.appendString('shared');
  shared.finish();
  const styles = readStyles(makeStyles(['0', '14']), null);
  const context = {
    styles,
    date1904: false,
    limits: DEFAULT_LIMITS,
    room: { cells: 100, refusal: 'more than 100 cells' },
    pool: new StringPool(shared),
    blanks: new BlankRuns(styles.visible),
    keepFormulas: true,
    formulaBudget: new FormulaBudget(DEFAULT_LIMITS),
  };
  const scanner = new SheetScanner(context);
  const window = new ByteWindow(1_000_000);
  const bytes = Buffer.from(xml);
  let at = 0;
  for (const size of [...chunks, bytes.length]) {
    window.append(bytes.subarray(at, at + size));
    at += size;
    window.start = scanner.scan(window.bytes, window.start, window.end);
  }
  if (whole) expect(window.start).toBe(window.end);
  const grid = makeGrid(scanner, context, { sheet: 's', state: 'visible', names: [], listObjects: [] });
  return {
    cells: cellsOf(grid),
    formulas: formulasOf(grid),
    merges: grid.merges,
    hidden: [...grid.hiddenRows, ...grid.hiddenColumns],
    arrays: grid.arrays,
  };
}

describe('SheetScanner: chunks', () => {
  const whole = scanInChunks(ODD_SHEET, []);

  it('reads the sheet at all', () => {
    expect(whole).toMatchObject({
      cells: {
        A1: 'shared',
        B1: -12.5,
        C1: ' 日本語 ',
        D1: 'a&b',
        A2: { date: '2024-04-01T00:00:00' },
        B2: { error: '#N/A' },
        C2: true,
        E2: '</v></c>',
        A3: 1.7976931348623157e308,
        B3: 'rich\r',
        A4: 0.30000000000000004,
        B4: 1,
        C4: 2,
      },
      formulas: { D1: 'A1&"x"', A3: 'B1*2', A4: 'B2*2', B4: 'X1:Y1', C4: 'X1:Y1' },
      hidden: [2, 2, 3],
    });
  });

  it('cut at any byte give the same', { timeout: 180_000 }, () => {
    const length = Buffer.byteLength(ODD_SHEET);
    for (let at = 1; at < length; at += 1) expect(scanInChunks(ODD_SHEET, [at]), `cut at ${at}`).toEqual(whole);
  });

  it.each([1, 2, 3, 7, 64])('of %i bytes give the same', (size) => {
    expect(
      scanInChunks(
        ODD_SHEET,
        Array.from({ length: Math.ceil(Buffer.byteLength(ODD_SHEET) / size) }, () => size),
      ),
    ).toEqual(whole);
  });
});

function unpack(batches: RowBatch[]): Record<string, [PlainValue, string?]> {
  const cells: Record<string, [PlainValue, string?]> = {};
  for (const batch of batches) {
    for (const { column, kinds, numbers, texts, formulaIds } of batch.columns) {
      kinds.forEach((kind, i) => {
        if (kind === 0) return;
        const isText = kind === CellKind.text || kind === CellKind.error;
        const value = isText ? batch.strings[texts?.[i] ?? -1] : numbers?.[i];
        const formula = batch.formulas[formulaIds?.[i] ?? -1];
        cells[`${batch.rows[i]},${column}`] = formula === undefined ? [value ?? '?'] : [value ?? '?', formula];
      });
    }
  }
  return cells;
}

async function collect(batches: AsyncIterable<RowBatch>): Promise<RowBatch[]> {
  const all: RowBatch[] = [];
  for await (const batch of batches) all.push(batch);
  return all;
}

describe('scanSheet', () => {
  const rows = Array.from({ length: 30_000 }, (_, i) => {
    const r = i * 2 + 1;
    return `<row r="${r}"><c r="A${r}"><v>${i}</v></c><c r="B${r}" t="s"><v>${i % 3}</v></c><c r="C${r}" t="inlineStr"><is><t>row ${i % 100}</t></is></c>${i % 2 ? `<c r="E${r}" t="b"><v>1</v></c>` : ''}<c r="F${r}"><f t="shared" si="1"${i === 0 ? ' ref="F1:F60000">A1*2' : '>'}</f><v>${i * 2}</v></c></row>`;
  }).join('');
  const bytes = makeBook({
    sheets: [rows, '<row r="1"><c r="A1"><v>7</v></c></row>'],
    strings: '<si><t>x</t></si><si><t>y</t></si><si><t>z</t></si>',
  });

  it('gives the cells of the grid, in batches of whole rows', async () => {
    const file = await WorkbookFile.open(bytes);
    const grid = await file.readSheet('Sheet1');
    const batches = await collect(file.scanSheet('Sheet1', { batchRows: 1000 }));
    await file.close();
    expect(batches.length).toBe(30);
    expect(batches.map((batch) => batch.rows.length)).toEqual(Array.from({ length: 30 }, () => 1000));
    const cells = unpack(batches);
    expect(Object.keys(cells).length).toBe(grid.size);
    for (let i = 0; i < grid.size; i += 1) {
      const isText = (grid.texts[i] ?? -1) >= 0;
      const value = isText ? grid.strings[grid.texts[i] ?? -1] : grid.numbers[i];
      const formula = grid.formulas[grid.formulaIds[i] ?? -1];
      expect(cells[`${grid.rows[i]},${grid.columns[i]}`]).toEqual(formula === undefined ? [value] : [value, formula]);
    }
    expect(cells['59999,6']).toEqual([59_998, 'A59999*2']);
  });

  it('keeps the strings of a batch to the batch', async () => {
    const [first] = await collect(scanSheet(bytes, 0, { batchRows: 10 }));
    expect(first?.strings).toEqual([
      'x',
      'row 0',
      'y',
      'row 1',
      'z',
      'row 2',
      'row 3',
      'row 4',
      'row 5',
      'row 6',
      'row 7',
      'row 8',
      'row 9',
    ]);
    expect(first?.columns.map(({ column, numbers, texts }) => [column, numbers !== null, texts !== null])).toEqual([
      [1, true, false],
      [2, false, true],
      [3, false, true],
      [5, true, false],
      [6, true, false],
    ]);
  });

  it('leaves formulas out when asked to, and finds sheets by number', async () => {
    const batches = await collect(scanSheet(bytes, 0, { formulas: false }));
    expect(batches.every((batch) => batch.formulas.length === 0 && batch.columns.every((column) => column.formulaIds === null))).toBe(true);
    expect(unpack(await collect(scanSheet(bytes, 1)))).toEqual({ '1,1': [7] });
    await expect(collect(scanSheet(bytes, 5))).rejects.toThrow(RangeError);
  });

  it('splits a sheet with few cells all over the place', async () => {
    const diagonal = Array.from(
      { length: 8000 },
      (_, i) => `<row r="${i + 1}"><c r="${letters(i + 1)}${i + 1}"><v>${i}</v></c></row>`,
    ).join('');
    const batches = await collect(scanSheet(makeBook({ sheets: [diagonal] }), 0));
    expect(batches.length).toBeGreaterThan(3);
    expect(Math.max(...batches.map((batch) => batch.rows.length * batch.columns.length))).toBeLessThanOrEqual(4_000_000);
    expect(Object.keys(unpack(batches)).length).toBe(8000);
  });

  it('an empty sheet has no batches', async () => {
    expect(await collect(scanSheet(makeBook({ sheets: [''] }), 0))).toEqual([]);
  });
});

function letters(column: number): string {
  let text = '';
  for (let n = column; n > 0; n = Math.floor((n - 1) / 26)) text = String.fromCharCode(65 + ((n - 1) % 26)) + text;
  return text;
}

describe('SheetScanner: broken XML', () => {
  it('gives cells or a refusal, and always ends', { timeout: 180_000 }, () => {
    const bytes = Buffer.from(ODD_SHEET);
    const alphabet = Buffer.from('<>/"\'=&;![]-cvrist 19A\0');
    let seed = 1;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    for (let round = 0; round < 3000; round += 1) {
      const broken = Buffer.from(bytes);
      for (let i = random(4); i >= 0; i -= 1) broken[random(broken.length)] = alphabet[random(alphabet.length)] ?? 0;
      const chunks = round % 2 ? [random(broken.length)] : [];
      const error = attempt(() => scanInChunks(broken.toString('latin1'), chunks, false));
      if (error !== null) expect(error).toMatchObject({ name: 'DomainError' });
    }
  });
});

function attempt(run: () => void): unknown {
  try {
    run();
    return null;
  } catch (error) {
    return error;
  }
}
