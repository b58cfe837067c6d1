import ExcelJS from 'exceljs';
import { expect, it } from 'vitest';
import { readWorkbook } from '../../store/xlsx/index.ts';
import { ok } from '../setup/api.ts';
import { cellsOf, formulasOf } from '../xlsx/makeWorkbook.ts';
import { useWorld } from './world.ts';

const world = await useWorld();

/** A list with a title, so that the layout changes, and a second sheet that it refers to. */
async function makeBook(): Promise<Buffer> {
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet('明細');
  sheet.addRow(['売上明細']);
  sheet.addRow([]);
  sheet.addRow(['品番', '品名', '数量', '単価', '金額', '累計']);
  const prices = [120, 250, 80, 90];
  let total = 0;
  prices.forEach((price, i) => {
    const row = 4 + i;
    const amount = price * (i + 1);
    total += amount;
    sheet.addRow([
      `P-${i + 1}`,
      `商品${i + 1}`,
      i + 1,
      { formula: `VLOOKUP(A${row},単価表!$A$2:$B$5,2,FALSE)`, result: price },
      { formula: `C${row}*D${row}`, result: amount },
      { formula: `SUM(E$4:E${row})`, result: total },
    ]);
  });
  const other = book.addWorksheet('単価表');
  other.addRow(['品番', '価格']);
  for (const [i, price] of prices.entries()) other.addRow([`P-${i + 1}`, price]);
  return Buffer.from(await book.xlsx.writeBuffer());
}

async function exportBook(tables: string[], more: Record<string, unknown> = {}) {
  const answer = await world.api.fetch(`/api/v1/workbooks/${world.workbookId}/export`, {
    method: 'POST',
    token: world.owner.session,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ tables, format: 'xlsx', formula_mode: 'preserve', ...more }),
  });
  expect(answer.status).toBe(200);
  const { sheets } = await readWorkbook(Buffer.from(await answer.arrayBuffer()));
  return {
    preserved: Number(answer.headers.get('x-svc-preserved-formulas')),
    sheets: sheets.map((sheet) => ({ name: sheet.sheet, cells: cellsOf(sheet), formulas: formulasOf(sheet) })),
  };
}

it('formulas of the file come back with their references moved to the new layout', async () => {
  await world.upload('伝票.xlsx', await makeBook());
  const [details, prices] = ['売上明細', '伝票'];
  const { preserved, sheets } = await exportBook([details, prices]);
  const [sheet, other] = sheets;
  expect(sheet?.cells).toMatchObject({ A1: '品番', A2: 'P-1', C3: 2, D3: 250, E3: 500, F5: 1220 });
  const quoted = `'${other?.name}'`;
  expect(sheet?.formulas).toEqual(
    Object.fromEntries(
      [2, 3, 4, 5].flatMap((row) => [
        [`D${row}`, `VLOOKUP(A${row},${quoted}!$A$2:$B$5,2,FALSE)`],
        [`E${row}`, `C${row}*D${row}`],
        [`F${row}`, `SUM(E$2:E${row})`],
      ]),
    ),
  );
  expect(preserved).toBe(12);

  // Without the other table its references lead nowhere; the values stay.
  const alone = await exportBook([details]);
  expect(Object.keys(alone.sheets[0]?.formulas ?? {}).filter((cell) => cell.startsWith('D'))).toEqual([]);
  expect([alone.preserved, alone.sheets[0]?.cells.D3]).toEqual([8, 250]);
  expect((await exportBook([details], { formula_mode: 'values' })).preserved).toBe(0);

  // An edited cell is what it was set to; a removed row takes the ranges over it apart.
  const path = { workbook_id: world.workbookId, name: details };
  const rows = await world.readRows(details);
  const [first, second] = rows.map(({ __svc_row_id: id }) => id as number);
  const base = '/api/v1/workbooks/{workbook_id}/tables/{name}/rows' as const;
  ok(
    await world.owner.client.POST(base, {
      params: { path },
      body: { rows: [{ __svc_row_id: first, 金額: 999 }], expected_version: null },
    }),
  );
  const edited = await exportBook([details, prices]);
  expect(edited.sheets[0]?.cells.E2).toBe(999);
  expect([edited.preserved, edited.sheets[0]?.formulas.E2, edited.sheets[0]?.formulas.E3]).toEqual([11, undefined, 'C3*D3']);
  ok(await world.owner.client.POST(`${base}/delete`, { params: { path }, body: { row_ids: [second as number], expected_version: null } }));
  const removed = await exportBook([details, prices]);
  expect(removed.sheets[0]?.formulas).toMatchObject({ E3: 'C3*D3', F2: 'SUM(E$2:E2)' });
  expect(removed.sheets[0]?.formulas.F4).toBeUndefined();
});

it('raw tables keep theirs, and numbers to compute with', async () => {
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet('S');
  sheet.addRow(['a', 1, { formula: 'B1*2', result: 2 }]);
  sheet.addRow(['007', 2.5, { formula: 'SUM(B1:B2)', result: 3.5 }]);
  sheet.getCell('D1').value = 1200;
  sheet.getCell('D1').numFmt = '#,##0';
  sheet.getCell('E1').value = { formula: 'D1*2', result: 2400 };
  await world.upload('生.xlsx', Buffer.from(await book.xlsx.writeBuffer()), { fields: { structuring: 'skip' } });
  const { preserved, sheets } = await exportBook(['生']);
  expect(sheets[0]?.formulas).toEqual({ C2: 'B2*2', C3: 'SUM(B2:B3)' });
  expect(sheets[0]?.cells).toMatchObject({ A2: 'a', B2: 1, C2: 2, A3: '007', B3: 2.5, C3: 3.5, D2: '1,200', E2: 2400 });
  expect(preserved).toBe(2);
});
