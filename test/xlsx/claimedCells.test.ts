import { expect, it } from 'vitest';
import { WorkbookFile } from '../../store/xlsx/index.ts';
import { makeBook } from './makeWorkbook.ts';

const rows = Array.from({ length: 100 }, (_, i) => `<row r="${i + 1}"><c r="A${i + 1}"><v>${i}</v></c></row>`).join('');
const sheet = (dimension: string, prefix = ''): string =>
  `<?xml version="1.0"?><${prefix}worksheet xmlns${prefix ? ':x' : ''}="http://schemas.openxmlformats.org/spreadsheetml/2006/main">` +
  `${dimension}<${prefix}sheetData>${prefix ? '' : rows}</${prefix}sheetData></${prefix}worksheet>`;

async function estimate(sheets: string[], about: number): Promise<number> {
  const file = await WorkbookFile.open(makeBook({ sheets }));
  try {
    return await file.estimateCells(about);
  } finally {
    await file.close();
  }
}

const bound = (xml: string) => Math.floor(Buffer.byteLength(xml) / 24);

it.each<[name: string, xml: string, cells: number]>([
  ['by its own word', sheet('<dimension ref="A1:B50"/>'), 100],
  ['of one cell', sheet('<dimension ref="A1"/>'), 1],
  ['with a prefix', sheet("<x:dimension foo='1' ref='B2:C3'/>", 'x:'), 4],
  ['by its size, where it says nothing', sheet(''), bound(sheet(''))],
  ['by its size, where it says what cannot be', sheet('<dimension ref="A0:Z"/>'), bound(sheet('<dimension ref="A0:Z"/>'))],
  ['by its size, where it says more', sheet('<dimension ref="A1:XFD1048576"/>'), bound(sheet('<dimension ref="A1:XFD1048576"/>'))],
])('estimates the cells of a sheet %s', async (_, xml, cells) => {
  expect(await estimate([xml], 0)).toBe(cells);
  expect(await estimate([xml, xml], 0)).toBe(2 * cells);
});

it('does not ask sheets that are small enough by their size', async () => {
  const xml = sheet('<dimension ref="A1"/>');
  expect(await estimate([xml], bound(xml))).toBe(bound(xml));
});

it('reads no more cells than fit beside others', async () => {
  const file = await WorkbookFile.open(makeBook({ sheets: [sheet('<dimension ref="A1"/>')] }), { limits: { cellsInMemory: 150 } });
  expect((await file.readSheet(0, 50)).size).toBe(100);
  await expect(file.readSheet(0, 51)).rejects.toMatchObject({ code: 'too-large', detail: 'The workbook has more than 150 cells.' });
  await file.close();
});
