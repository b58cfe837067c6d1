import ExcelJS from 'exceljs';
import { describe, expect, it } from 'vitest';
import { formatCell } from '../../core/grid/format/formatCell.ts';
import { readWorkbook } from '../../store/xlsx/index.ts';
import { cellsOf, makeBook, readBook, readGrid, relation } from './makeWorkbook.ts';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const whole = (inner: string): string =>
  `<worksheet xmlns="${MAIN}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">${inner}</worksheet>`;
const range = (top: number, left: number, bottom: number, right: number) => ({ top, left, bottom, right });

describe('readWorkbook: what stands around the cells', () => {
  it('merges, hidden rows and columns, outlines', async () => {
    const grid = await readGrid({
      sheets: [
        whole(
          '<cols><col min="2" max="3" width="9" hidden="1"/><col min="5" max="5" width="0"/><col min="100" max="16384" hidden="1"/></cols><sheetData>' +
            '<row r="1"><c r="A1"><v>1</v></c><c r="F1"><v>1</v></c></row><row r="2" hidden="1" outlineLevel="2"><c r="A2"><v>1</v></c></row><row r="3" ht="0" customHeight="1"/>' +
            '<row r="4" hidden="0"><c r="A4"><v>1</v></c></row><row r="900" hidden="1"/></sheetData><mergeCells count="2"><mergeCell ref="A1:B2"/><mergeCell ref="D4:D9"/></mergeCells>',
        ),
      ],
    });
    expect(grid.merges).toEqual([range(1, 1, 2, 2), range(4, 4, 9, 4)]);
    expect([...grid.hiddenRows]).toEqual([2, 3]);
    expect([...grid.hiddenColumns]).toEqual([2, 3, 5]);
    expect(grid.rowOutlines).toEqual(new Map([[2, 2]]));
  });

  it('sheet states, chart sheets skipped, macros noticed', async () => {
    const sheet = '<row r="1"><c r="A1"><v>1</v></c></row>';
    const book = await readBook({
      sheets: [sheet, { name: 'hidden one', xml: sheet, state: 'hidden' }, { name: 'Chart', xml: '<chartsheet/>' }],
      change: (part) =>
        part.name.endsWith('workbook.xml.rels')
          ? {
              ...part,
              content: `${part.content}`
                .replace('worksheet" Target="worksheets/sheet3', 'chartsheet" Target="worksheets/sheet3')
                .replace('</Relationships>', `${relation('v', 'vbaProject', 'vbaProject.bin')}</Relationships>`),
            }
          : part,
    });
    expect(book.sheets.map(({ sheet: name, state }) => [name, state])).toEqual([
      ['Sheet1', undefined],
      ['hidden one', 'hidden'],
    ]);
    expect(book.skipped).toEqual(['Chart']);
    expect(book.hasMacros).toBe(true);
  });

  it('defined names by the sheet they point into', async () => {
    const sheet = '<row r="1"><c r="A1"><v>1</v></c></row>';
    const { sheets } = await readBook({
      sheets: [sheet, { name: 'it&apos;s, mine', xml: sheet }],
      workbookInner:
        "<definedNames><definedName name=\"Area\">Sheet1!$A$1:$B$2</definedName><definedName name=\"_xlnm.Print_Area\" localSheetId=\"1\">'it''s, mine'!$A$1:$C$9,'it''s, mine'!$E:$F</definedName>" +
        '<definedName name="Rate">0.1</definedName><definedName name="Gone">#REF!</definedName><definedName name="Calc">SUM(Sheet1!$A$1:$A$2)</definedName><definedName name="Rows">SHEET1!$3:$4</definedName></definedNames>',
    });
    expect(sheets[0]?.names).toEqual([
      { name: 'Area', range: range(1, 1, 2, 2) },
      { name: 'Rows', range: range(3, 1, 4, 16_384) },
    ]);
    expect(sheets[1]?.names).toEqual([
      { name: '_xlnm.Print_Area', range: range(1, 1, 9, 3) },
      { name: '_xlnm.Print_Area', range: range(1, 5, 1_048_576, 6) },
    ]);
  });

  it('Excel tables and filters', async () => {
    const grid = await readGrid({
      sheets: [
        whole(
          '<sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData><autoFilter ref="E1:F9"/><tableParts count="1"><tablePart r:id="rId7"/></tableParts>',
        ),
      ],
      sheetRelations: relation('rId7', 'table', '../tables/table1.xml'),
      extra: [
        {
          name: 'xl/tables/table1.xml',
          content: `<table xmlns="${MAIN}" id="1" name="t" displayName="売上" ref="A1:C9" totalsRowCount="1"><autoFilter ref="A1:C8"/></table>`,
        },
      ],
    });
    expect(grid.listObjects).toEqual([{ name: '売上', range: range(1, 1, 9, 3), headerRows: 1, totalsRows: 1 }]);
    expect(grid.names).toEqual([{ name: '_xlnm._FilterDatabase', range: range(1, 5, 9, 6) }]);
  });

  it.each([
    ['<pane ySplit="2" topLeftCell="A3" state="frozen"/>', 2],
    ['<pane ySplit="2000" topLeftCell="A3" state="split"/>', undefined],
    ['<pane xSplit="1" topLeftCell="B1" state="frozen"/>', undefined],
  ])('pivot tables and frozen rows: %s', async (pane, frozenRow) => {
    const location = '<location ref="A3:D9" firstHeaderRow="1" firstDataRow="2" firstDataCol="1"/>';
    const grid = await readGrid({
      sheets: [
        whole(`<sheetViews><sheetView>${pane}</sheetView></sheetViews><sheetData><row r="1"><c r="A1"><v>1</v></c></row></sheetData>`),
      ],
      sheetRelations: relation('rId7', 'pivotTable', '../pivotTables/pivotTable1.xml'),
      extra: [
        { name: 'xl/pivotTables/pivotTable1.xml', content: `<pivotTableDefinition xmlns="${MAIN}">${location}</pivotTableDefinition>` },
      ],
    });
    expect(grid.pivots).toEqual([{ range: range(3, 1, 9, 4), headerRows: 2 }]);
    expect(grid.frozenRow).toBe(frozenRow);
  });
});

describe('readWorkbook: styles', () => {
  const styles = (fonts: string, fills: string, borders: string, xfs: string): string =>
    `<styleSheet xmlns="${MAIN}"><fonts>${fonts}</fonts><fills>${fills}</fills><borders>${borders}</borders><cellStyleXfs><xf fontId="9"/></cellStyleXfs><cellXfs>${xfs}</cellXfs><colors><indexedColors><rgbColor rgb="00000000"/><rgbColor rgb="00ABCDEF"/></indexedColors></colors></styleSheet>`;
  const sheet = (count: number): string =>
    `<row r="1">${Array.from({ length: count }, (_, i) => `<c s="${i}"><v>${i}</v></c>`).join('')}</row>`;

  it('tells what matters: bold, colours with theme and tint, fill, borders, indent, alignment', async () => {
    const grid = await readGrid({
      sheets: [sheet(8)],
      styles: styles(
        '<font><sz val="11"/><name val="Calibri"/></font><font><b/><i val="0"/><sz val="14"/><color rgb="FFFF0000"/></font><font><b val="false"/><i/><color theme="4" tint="-0.25"/></font><font><color indexed="1"/></font>',
        '<fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor theme="0"/></patternFill></fill><fill><patternFill patternType="solid"><fgColor theme="0" tint="-0.15"/><bgColor indexed="64"/></patternFill></fill><fill><gradientFill><stop position="0"><color rgb="FF112233"/></stop></gradientFill></fill>',
        '<border><left/><right/><top/><bottom/></border><border><left style="thin"><color auto="1"/></left><right style="none"/><top/><bottom style="double"/></border>',
        '<xf fontId="0"/><xf fontId="1"/><xf fontId="2"/><xf fontId="3"/><xf fillId="1"/><xf fillId="2"/><xf fillId="3" borderId="1"/><xf fillId="4" applyAlignment="1"><alignment horizontal="centerContinuous" indent="2"/></xf>',
      ),
    });
    const style = (i: number) => grid.styles[grid.styleIds[i] ?? -1];
    expect(style(0)).toMatchObject({
      bold: false,
      italic: false,
      filled: false,
      fontSize: 11,
      fontColor: null,
      indent: 0,
      align: null,
      numberFormat: 'General',
    });
    expect(style(1)).toMatchObject({ bold: true, italic: false, fontSize: 14, fontColor: 'FF0000' });
    expect(style(2)).toMatchObject({ bold: false, italic: true, fontColor: '376092' });
    expect(style(3)).toMatchObject({ fontColor: 'ABCDEF' });
    expect(style(4)).toMatchObject({ filled: true, fillColor: null });
    expect(style(5)).toMatchObject({ filled: false, fillColor: 'FFFFFF' });
    expect(style(6)).toMatchObject({ filled: true, fillColor: 'D9D9D9', border: { left: true, right: false, top: false, bottom: true } });
    expect(style(7)).toMatchObject({ filled: true, fillColor: '112233', align: 'center', indent: 2 });
  });

  it('takes the Japanese builtin formats for workbooks of a Japanese Excel', async () => {
    const book = { sheets: ['<row r="1"><c r="A1" s="1"><v>45383</v></c></row>'], styles: ['0', '14'] };
    const change = (name: string) => (part: { name: string; content: string | Uint8Array }) => ({
      ...part,
      content: `${part.content}`.replace('Calibri', name),
    });
    for (const [font, shown] of [
      ['Calibri', '4/1/2024'],
      ['游ゴシック', '2024/4/1'],
      ['ＭＳ Ｐゴシック', '2024/4/1'],
      ['Meiryo UI', '2024/4/1'],
    ] as const) {
      expect(formatCell(await readGrid({ ...book, change: change(font) }), 0)).toBe(shown);
    }
  });

  it('keeps equal styles once and survives numbers of styles that are not there', async () => {
    const grid = await readGrid({
      sheets: ['<row r="1"><c s="0"><v>1</v></c><c s="2"><v>1</v></c><c s="99"><v>1</v></c></row>'],
      styles: ['0', '14', '0'],
    });
    expect([...grid.styleIds]).toEqual([0, 0, 0]);
    expect(grid.styles.length).toBe(2);
  });

  const lined = styles(
    '<font/>',
    '<fill/><fill><patternFill patternType="solid"><fgColor rgb="FFFFFF00"/></patternFill></fill>',
    '<border/><border><top style="thin"/></border>',
    '<xf/><xf borderId="1"/><xf fillId="1"/>',
  );

  it('blank cells that can be seen, inside of the used box, as runs', async () => {
    const grid = await readGrid({
      sheets: [
        '<row r="1"><c r="A1" s="1"/></row><row r="2"><c r="B2"><v>1</v></c><c r="C2" s="1"/><c r="D2" s="1"/><c r="E2" s="2"/><c r="F2" s="0"/><c r="G2"><v>1</v></c><c r="H2" s="1"/></row>' +
          '<row r="3"><c r="A3" s="1"/><c r="B3" s="1"/><c r="C3" s="1" t="s"/></row><row r="4"><c r="B4"><v>1</v></c></row><row r="5"><c r="B5" s="1"/></row>',
      ],
      styles: lined,
    });
    expect(grid.blanks).toEqual([
      { row: 2, left: 3, right: 4, styleId: 1 },
      { row: 2, left: 5, right: 5, styleId: 2 },
      { row: 3, left: 2, right: 3, styleId: 1 },
    ]);
  });

  it('styles of whole rows and columns show in the cells the file leaves out', async () => {
    const grid = await readGrid({
      sheets: [
        whole(
          '<cols><col min="2" max="3" style="2"/><col min="4" max="16384" style="0"/></cols><sheetData><row r="1"><c r="A1"><v>1</v></c><c r="C1" s="0"/><c r="E1"><v>1</v></c></row>' +
            '<row r="3" s="1" customFormat="1"><c r="B3" s="2"><v>1</v></c></row><row r="4" s="1"/><row r="5"><c r="A5"><v>1</v></c></row><row r="6" s="1" customFormat="1"/></sheetData>',
        ),
      ],
      styles: lined,
    });
    expect(grid.blanks).toEqual([
      { row: 1, left: 2, right: 2, styleId: 2 },
      { row: 2, left: 2, right: 3, styleId: 2 },
      { row: 3, left: 1, right: 1, styleId: 1 },
      { row: 3, left: 3, right: 5, styleId: 1 },
      { row: 4, left: 2, right: 3, styleId: 2 },
      { row: 5, left: 2, right: 3, styleId: 2 },
    ]);
  });
});

describe('readWorkbook: a workbook of exceljs', () => {
  it('reads as it was written', async () => {
    const book = new ExcelJS.Workbook();
    const sheet = book.addWorksheet('売上');
    sheet.addRow(['日付', '金額', '率', '有効']);
    sheet.addRow([new Date(Date.UTC(2024, 3, 1)), 1234.5, 0.25, true]);
    sheet.getCell('A2').numFmt = '[$-411]ggge"年"m"月"d"日"';
    sheet.getCell('B2').numFmt = '#,##0;△#,##0';
    sheet.getCell('C2').numFmt = '0%';
    sheet.getCell('B3').value = { formula: 'SUM(B2:B2)', result: 1234.5 };
    sheet.getCell('A5').value = { richText: [{ text: '注' }, { text: '記', font: { bold: true } }] };
    sheet.getCell('A6').value = { error: '#N/A' };
    sheet.mergeCells('A7:B8');
    sheet.getRow(1).font = { bold: true };
    sheet.addTable({ name: 'T', ref: 'F1', columns: [{ name: 'x' }, { name: 'y' }], rows: [[1, 2]] });
    const grid = (await readWorkbook(Buffer.from(await book.xlsx.writeBuffer()))).sheets[0];
    if (!grid) throw new Error('no sheet');
    expect(cellsOf(grid)).toMatchObject({
      A1: '日付',
      A2: { date: '2024-04-01T00:00:00' },
      B2: 1234.5,
      C2: 0.25,
      D2: true,
      B3: 1234.5,
      A5: '注記',
      A6: { error: '#N/A' },
    });
    expect(grid.formulas).toEqual(['SUM(B2:B2)']);
    expect(grid.merges).toEqual([range(7, 1, 8, 2)]);
    expect(grid.listObjects).toEqual([{ name: 'T', range: range(1, 6, 2, 7), headerRows: 1, totalsRows: 0 }]);
    expect(grid.styles[grid.styleIds[0] ?? -1]?.bold).toBe(true);
    const shown = Array.from({ length: grid.size }, (_, i) => formatCell(grid, i));
    expect(shown).toEqual(expect.arrayContaining(['令和6年4月1日', '1,235', '25%', 'TRUE']));
  });

  it('needs neither styles nor shared strings', async () => {
    const { sheets } = await readWorkbook(makeBook({ sheets: ['<row r="1"><c r="A1" s="3"><v>1</v></c></row>', ''] }));
    expect(sheets.map((grid) => grid.size)).toEqual([1, 0]);
  });
});
