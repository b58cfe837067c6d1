/** Workbooks from hand-written parts, and a plain view of what was read. */

import { nameColumn } from '../../core/a1/address.ts';
import { CellKind, type Grid } from '../../core/grid/grid.ts';
import { readWorkbook, type Workbook, type WorkbookOptions } from '../../store/xlsx/index.ts';
import { writeZip, type ZipOptions, type ZipPart } from './zipWriter.ts';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';
const HEADER = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

export interface BookParts {
  /** Whole XML of a sheet, or what stands inside of `<sheetData>`. */
  sheets: (string | { name?: string; xml: string; state?: string })[];
  /** Whole XML, or `<si>` elements. */
  strings?: string;
  /** Whole XML, or the attributes of each `xf` in turn, with custom formats as `numFmt:code`. */
  styles?: string | string[];
  theme?: string;
  workbookInner?: string;
  extra?: ZipPart[];
  sheetRelations?: string;
  zip?: ZipOptions;
  /** Changes each part just before it is packed. */
  change?: (part: ZipPart) => ZipPart;
}

export function makeBook(parts: BookParts): Buffer {
  const sheets = parts.sheets.map((sheet, i) => {
    const { name = `Sheet${i + 1}`, xml, state } = typeof sheet === 'string' ? { xml: sheet } : sheet;
    return {
      name,
      state,
      xml: isWhole(xml) ? xml : `${HEADER}<worksheet xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheetData>${xml}</sheetData></worksheet>`,
    };
  });
  const list = sheets
    .map(({ name, state }, i) => `<sheet name="${name}" sheetId="${i + 1}" r:id="rId${i + 1}"${state ? ` state="${state}"` : ''}/>`)
    .join('');
  const relations = sheets.map((_, i) => relation(`rId${i + 1}`, 'worksheet', `worksheets/sheet${i + 1}.xml`));
  const zipParts: ZipPart[] = [
    { name: '_rels/.rels', content: wrapRelations([relation('rId1', 'officeDocument', 'xl/workbook.xml')]) },
    ...sheets.map(({ xml }, i) => ({ name: `xl/worksheets/sheet${i + 1}.xml`, content: xml })),
  ];
  if (parts.strings !== undefined) {
    relations.push(relation('rIdS', 'sharedStrings', 'sharedStrings.xml'));
    zipParts.push({
      name: 'xl/sharedStrings.xml',
      content: isWhole(parts.strings) ? parts.strings : `${HEADER}<sst xmlns="${MAIN}">${parts.strings}</sst>`,
    });
  }
  if (parts.styles !== undefined) {
    relations.push(relation('rIdT', 'styles', 'styles.xml'));
    zipParts.push({ name: 'xl/styles.xml', content: typeof parts.styles === 'string' ? parts.styles : makeStyles(parts.styles) });
  }
  if (parts.theme !== undefined) {
    relations.push(relation('rIdH', 'theme', 'theme/theme1.xml'));
    zipParts.push({ name: 'xl/theme/theme1.xml', content: parts.theme });
  }
  if (parts.sheetRelations !== undefined)
    zipParts.push({ name: 'xl/worksheets/_rels/sheet1.xml.rels', content: wrapRelations([parts.sheetRelations]) });
  zipParts.push({ name: 'xl/_rels/workbook.xml.rels', content: wrapRelations(relations) });
  zipParts.push({
    name: 'xl/workbook.xml',
    content: `${HEADER}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}">${parts.workbookInner?.includes('<workbookPr') ? parts.workbookInner : ''}<sheets>${list}</sheets>${parts.workbookInner?.includes('<workbookPr') ? '' : (parts.workbookInner ?? '')}</workbook>`,
  });
  zipParts.push(...(parts.extra ?? []));
  return writeZip(parts.change ? zipParts.map(parts.change) : zipParts, parts.zip);
}

function isWhole(xml: string): boolean {
  return xml.startsWith('<?xml') || xml.startsWith('<!DOCTYPE') || /^\ufeff?<(\w+:)?(worksheet|sst)/.test(xml);
}

export function relation(id: string, type: string, target: string): string {
  return `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`;
}

export function wrapRelations(relations: string[]): string {
  return `${HEADER}<Relationships xmlns="${PACKAGE}">${relations.join('')}</Relationships>`;
}

/** One `xf` for each number format: a builtin id or a code. */
export function makeStyles(formats: string[]): string {
  const custom = formats
    .map((code, i) => (/^\d+$/.test(code) ? '' : `<numFmt numFmtId="${200 + i}" formatCode="${escapeXml(code)}"/>`))
    .join('');
  const xfs = formats
    .map((code, i) => `<xf numFmtId="${/^\d+$/.test(code) ? code : 200 + i}" fontId="0" fillId="0" borderId="0"/>`)
    .join('');
  return `${HEADER}<styleSheet xmlns="${MAIN}"><numFmts>${custom}</numFmts><fonts><font><name val="Calibri"/></font></fonts><fills><fill/></fills><borders><border/></borders><cellXfs>${xfs}</cellXfs></styleSheet>`;
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

export type PlainValue = string | number | boolean | { date: string } | { error: string };

/** What a cell holds, in one value. */
export function plainValueOf(grid: Grid, i: number): PlainValue {
  const text = grid.strings[grid.texts[i] ?? -1] ?? '?';
  const number = grid.numbers[i] ?? Number.NaN;
  switch (grid.kinds[i]) {
    case CellKind.number:
      return number;
    case CellKind.boolean:
      return number === 1;
    case CellKind.date:
      return { date: new Date(number).toISOString().replace('.000Z', '') };
    case CellKind.error:
      return { error: text };
    default:
      return text;
  }
}

export function formulaOf(grid: Grid, i: number): string | undefined {
  return grid.formulas[grid.formulaIds[i] ?? -1];
}

function addressOf(grid: Grid, i: number): string {
  return `${nameColumn(grid.columns[i] ?? 0)}${grid.rows[i]}`;
}

/** `{ A1: 5, B1: 'x' }` */
export function cellsOf(grid: Grid): Record<string, PlainValue> {
  const cells: Record<string, PlainValue> = {};
  for (let i = 0; i < grid.size; i += 1) cells[addressOf(grid, i)] = plainValueOf(grid, i);
  return cells;
}

export function formulasOf(grid: Grid): Record<string, string> {
  const formulas: Record<string, string> = {};
  for (let i = 0; i < grid.size; i += 1) {
    const formula = formulaOf(grid, i);
    if (formula !== undefined) formulas[addressOf(grid, i)] = formula;
  }
  return formulas;
}

export async function readBook(parts: BookParts, options?: WorkbookOptions): Promise<Workbook> {
  return readWorkbook(makeBook(parts), options);
}

export async function readGrid(parts: BookParts, options?: WorkbookOptions): Promise<Grid> {
  const [grid] = (await readBook(parts, options)).sheets;
  if (!grid) throw new Error('The workbook has no sheet.');
  return grid;
}
