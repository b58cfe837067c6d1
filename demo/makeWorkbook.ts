import ExcelJS from 'exceljs';

/** A workbook as people make them: a Japanese sheet with title, unit, months across and totals, and an English list. */
export async function makeWorkbook(): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  const sales = book.addWorksheet('店別売上');
  sales.addRows([
    ['2024年度 店別売上'],
    ['(単位：千円)'],
    ['店', '2024年4月', '2024年5月', '2024年6月'],
    ['東京', 120, 130, 125],
    ['大阪', 90, 95, 88],
    ['名古屋', 70, 66, 81],
    ['合計', 280, 291, 294],
    ['※速報値'],
  ]);
  const staff = book.addWorksheet('Staff');
  staff.addRows([
    ['Staff'],
    ['Name', 'Store', 'Salary', 'Since'],
    ['Aikawa', '東京', 5200, new Date(Date.UTC(2019, 3, 1))],
    ['Inoue', '大阪', 4800, new Date(Date.UTC(2020, 9, 1))],
    ['Uda', '名古屋', 4500, new Date(Date.UTC(2021, 3, 1))],
    ['Endo', '東京', 6100, new Date(Date.UTC(2016, 3, 1))],
  ]);
  staff.getColumn(4).numFmt = 'yyyy-mm-dd';
  return new Uint8Array(await book.xlsx.writeBuffer());
}

/** What somebody does to an exported file on a train: one cell changes. */
export async function changeCell(bytes: Uint8Array, where: { row: string; column: string }, value: number): Promise<Uint8Array> {
  const book = new ExcelJS.Workbook();
  await book.xlsx.load(bytes as never);
  const sheet = book.worksheets[0];
  if (!sheet) throw new Error('the exported file has no sheet');
  const find = (cells: ExcelJS.CellValue[], wanted: string) => cells.indexOf(wanted);
  const column = find(sheet.getRow(1).values as ExcelJS.CellValue[], where.column);
  for (let row = 2; row <= sheet.rowCount; row += 1)
    if (find(sheet.getRow(row).values as ExcelJS.CellValue[], where.row) > 0) sheet.getRow(row).getCell(column).value = value;
  return new Uint8Array(await book.xlsx.writeBuffer());
}
