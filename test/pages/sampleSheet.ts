import exceljs from 'exceljs';

/**
 * A sheet as people make them: merged title, colours, widths, number formats, a total that is wrong, a note. And a plain one behind it.
 * Files with different titles are not the same file.
 */
export async function makeSampleSheet(title = ''): Promise<Buffer> {
  const book = new exceljs.Workbook();
  book.title = title;
  const sheet = book.addWorksheet('店別売上');
  const fill = (argb: string) => ({ type: 'pattern', pattern: 'solid', fgColor: { argb } }) as const;
  sheet.columns = [{ width: 18 }, { width: 14 }, { width: 14 }, { width: 14 }, { width: 11 }];
  sheet.mergeCells('A1:E1');
  Object.assign(sheet.getCell('A1'), { value: '2024年度 第1四半期 店別売上', alignment: { horizontal: 'center' }, font: { bold: true } });
  sheet.getRow(1).height = 26;
  Object.assign(sheet.getCell('E2'), { value: '（単位：千円）', alignment: { horizontal: 'right' }, font: { italic: true } });
  const lines: (string | number)[][] = [
    ['店', '2024年4月', '2024年5月', '2024年6月', '達成率'],
    ['東京本店', 12_400, 13_050, 12_800, 1.042],
    ['大阪支店', 9_120, 9_580, 8_870, 0.981],
    ['名古屋支店', 7_030, 6_640, 8_150, 1.013],
    ['福岡支店', 5_210, 5_480, 5_390, 0.967],
    // Of May it is wrong: 34,750 would be right.
    ['合計', 33_760, 35_750, 35_210, 1.006],
  ];
  for (const [i, line] of lines.entries()) {
    const row = sheet.getRow(3 + i);
    for (const [column, value] of line.entries()) {
      const cell = row.getCell(column + 1);
      cell.value = value;
      if (typeof value === 'number') cell.numFmt = column === 4 ? '0.0%' : '#,##0';
      if (i === 0) Object.assign(cell, { fill: fill('FF1F4E79'), font: { bold: true, color: { argb: 'FFFFFFFF' } } });
      if (i === 5) Object.assign(cell, { fill: fill('FFFFF2CC'), font: { bold: true } });
    }
  }
  sheet.getCell('A9').value = '※6月は速報値';
  book.addWorksheet('在庫').addRows([
    ['品目', '数量'],
    ['ボルト', 120],
    ['ナット', 80],
    ['座金', 45],
  ]);
  return Buffer.from(await book.xlsx.writeBuffer());
}
