import { type ByteBatch, cutBatch, decodeBatch } from '../../../core/table/textBatch.ts';
import type { Sink } from '../../blobs/spool.ts';
import { fitWidths } from './columnWidths.ts';
import { type ComposedLayout, ComposedSheet, type SheetFile } from './composedSheet.ts';
import { type CellNote, noteBoxesXml, notesXml } from './notes.ts';
import { SheetPieces } from './sheetPieces.ts';
import { type BatchExtras, type FilteredTable, type SheetColumn, SheetWriter, type TableForm } from './sheetWriter.ts';
import { StyleTable } from './styleTable.ts';
import { escapeXml } from './xmlText.ts';
import { ZipWriter } from './zipWriter.ts';

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006';
const pack = 'http://schemas.openxmlformats.org/package/2006';
const partType = 'application/vnd.openxmlformats-officedocument';
const packageType = 'application/vnd.openxmlformats-package';

export interface WorkbookSheet {
  /** Valid and unique, as `chooseSheetNames` makes them. */
  name: string;
  columns: SheetColumn[];
  /** The XML may become longer than 4 GiB. */
  isHuge?: boolean;
}

export interface SheetRows {
  /** Rows of the sheet, in order. The widths are fitted to the first ones. */
  write(batch: ByteBatch, extras?: BatchExtras | null): Promise<void>;
  end(): Promise<void>;
}

/** A text that stands in the file without being shown. */
export interface HiddenText {
  name: string;
  value: string;
}

interface WorkbookEnd {
  /** As programs list it among the properties of the file. */
  title?: string;
  properties?: HiddenText[];
  /** Names for the first cells of sheets, not shown either. They stay with their sheet when it is renamed. */
  sheetMarks?: { sheet: string; name: string }[];
  /** Programs compute the formulas anew when they open the file. */
  hasFormulas?: boolean;
}

/** Writes a workbook sheet by sheet, row by row, as it is given; nothing of a sheet is held but the current rows. */
export class WorkbookWriter {
  private readonly zip: ZipWriter;
  private readonly styles = new StyleTable();
  private readonly sheetNames: string[] = [];
  /** By number. */
  private readonly notedSheets: number[] = [];

  constructor(sink: Sink) {
    this.zip = new ZipWriter(sink);
  }

  async openSheet({ name, columns, isHuge = false }: WorkbookSheet): Promise<SheetRows> {
    return new TableSheet(await this.beginSheet(name, isHuge), columns);
  }

  /** A sheet of texts and tables. */
  async composeSheet(name: string, layout: ComposedLayout, isHuge: boolean): Promise<ComposedSheet> {
    return new ComposedSheet(await this.beginSheet(name, isHuge), layout);
  }

  private async beginSheet(name: string, isHuge: boolean): Promise<SheetFile> {
    this.sheetNames.push(name);
    const number = this.sheetNames.length;
    const pieces = new SheetPieces(await this.zip.openEntry(`xl/worksheets/sheet${number}.xml`, { long: isHuge }));
    const sheet = new SheetWriter(this.styles);
    const end = async (filter: FilteredTable | null) => {
      sheet.end(pieces.out, filter, sheet.notes.length > 0 ? `<legacyDrawing r:id="${noteBoxesId}"/>` : '');
      await pieces.end();
      if (sheet.notes.length > 0) await this.addNotes(number, sheet.notes);
    };
    return { pieces, sheet, isFirst: number === 1, end };
  }

  private async addNotes(number: number, notes: CellNote[]): Promise<void> {
    this.notedSheets.push(number);
    await this.zip.addEntry(`xl/comments${number}.xml`, notesXml(notes));
    await this.zip.addEntry(`xl/drawings/vmlDrawing${number}.vml`, noteBoxesXml(notes));
    const relations = [
      relation('rIdNotes', 'comments', `../comments${number}.xml`),
      relation(noteBoxesId, 'vmlDrawing', `../drawings/vmlDrawing${number}.vml`),
    ];
    await this.zip.addEntry(`xl/worksheets/_rels/sheet${number}.xml.rels`, relationsXml(relations));
  }

  /** At least one sheet must have been written. */
  async finish({ title, properties = [], sheetMarks = [], hasFormulas = false }: WorkbookEnd = {}): Promise<void> {
    await this.zip.addEntry('xl/styles.xml', this.styles.xml());
    await this.zip.addEntry('xl/workbook.xml', this.workbookXml(sheetMarks, hasFormulas));
    await this.zip.addEntry('xl/_rels/workbook.xml.rels', this.relationsXml());
    if (properties.length > 0) await this.zip.addEntry('docProps/custom.xml', propertiesXml(properties));
    if (title !== undefined) await this.zip.addEntry('docProps/core.xml', titleXml(title));
    const parts = { hasProperties: properties.length > 0, hasTitle: title !== undefined };
    await this.zip.addEntry('_rels/.rels', rootXml(parts));
    await this.zip.addEntry('[Content_Types].xml', this.typesXml(parts));
    await this.zip.finish();
  }

  private workbookXml(marks: NonNullable<WorkbookEnd['sheetMarks']>, hasFormulas: boolean): string {
    const names = marks.map(
      ({ sheet, name }) =>
        `<definedName name="${escapeXml(name)}" hidden="1">${escapeXml(`'${sheet.replaceAll("'", "''")}'!$A$1`)}</definedName>`,
    );
    const defined = names.length > 0 ? `<definedNames>${names.join('')}</definedNames>` : '';
    const sheets = this.sheetNames.map((name, i) => `<sheet name="${escapeXml(name)}" sheetId="${i + 1}" r:id="rId${i + 1}"/>`);
    return `${head}<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${office}/relationships"><workbookPr/><bookViews><workbookView/></bookViews><sheets>${sheets.join('')}</sheets>${defined}${hasFormulas ? '<calcPr fullCalcOnLoad="1"/>' : ''}</workbook>`;
  }

  private relationsXml(): string {
    const sheets = this.sheetNames.map((_, i) => relation(`rId${i + 1}`, 'worksheet', `worksheets/sheet${i + 1}.xml`));
    return relationsXml([...sheets, relation('rIdStyles', 'styles', 'styles.xml')]);
  }

  private typesXml({ hasProperties, hasTitle }: RootParts): string {
    const overrides = [
      override('/xl/workbook.xml', 'spreadsheetml.sheet.main'),
      ...this.sheetNames.map((_, i) => override(`/xl/worksheets/sheet${i + 1}.xml`, 'spreadsheetml.worksheet')),
      override('/xl/styles.xml', 'spreadsheetml.styles'),
      ...this.notedSheets.map((number) => override(`/xl/comments${number}.xml`, 'spreadsheetml.comments')),
      ...(hasProperties ? [override('/docProps/custom.xml', 'custom-properties')] : []),
      ...(hasTitle ? [`<Override PartName="/docProps/core.xml" ContentType="${packageType}.core-properties+xml"/>`] : []),
    ];
    return `${head}<Types xmlns="${pack}/content-types"><Default Extension="rels" ContentType="${packageType}.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="vml" ContentType="application/vnd.openxmlformats-officedocument.vmlDrawing"/>${overrides.join('')}</Types>`;
  }
}

const noteBoxesId = 'rIdNoteBoxes';

/** Rows that the widths are fitted to, at most. */
const sampleRows = 1000;

/** A sheet of one table. */
class TableSheet implements SheetRows {
  private readonly table: TableForm;
  private hasBegun = false;

  constructor(
    private readonly file: SheetFile,
    columns: SheetColumn[],
  ) {
    this.table = file.sheet.layTable(columns);
  }

  async write(batch: ByteBatch, extras: BatchExtras | null = null): Promise<void> {
    const { pieces, sheet } = this.file;
    this.begin(batch);
    sheet.putRows(pieces.out, this.table, batch, extras);
    await pieces.handOnIfFull();
  }

  async end(): Promise<void> {
    this.begin({ rowCount: 0, columns: [] });
    await this.file.end({ table: this.table, from: 1, to: this.file.sheet.rowNumber });
  }

  private begin(batch: ByteBatch): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    const { pieces, sheet, isFirst } = this.file;
    const { columns, forms } = this.table;
    const { texts } = decodeBatch(cutBatch(batch, sampleRows));
    const layout = fitWidths(columns, texts).map((width, i) => ({ width, style: forms[i]?.styles.plain }));
    sheet.begin(pieces.out, { columns: layout, frozenRows: 1, isFirst });
    sheet.putHeader(pieces.out, this.table);
  }
}

function relation(id: string, type: string, target: string): string {
  return `<Relationship Id="${id}" Type="${office}/relationships/${type}" Target="${target}"/>`;
}

function relationsXml(relations: string[]): string {
  return `${head}<Relationships xmlns="${pack}/relationships">${relations.join('')}</Relationships>`;
}

interface RootParts {
  hasProperties: boolean;
  hasTitle: boolean;
}

function rootXml({ hasProperties, hasTitle }: RootParts): string {
  const custom = hasProperties ? [relation('rId2', 'custom-properties', 'docProps/custom.xml')] : [];
  const core = `<Relationship Id="rId3" Type="${pack}/relationships/metadata/core-properties" Target="docProps/core.xml"/>`;
  return relationsXml([relation('rId1', 'officeDocument', 'xl/workbook.xml'), ...custom, ...(hasTitle ? [core] : [])]);
}

function override(part: string, type: string): string {
  return `<Override PartName="${part}" ContentType="${partType}.${type}+xml"/>`;
}

function propertiesXml(properties: HiddenText[]): string {
  const list = properties.map(
    ({ name, value }, i) =>
      `<property fmtid="{D5CDD505-2E9C-101B-9397-08002B2CF9AE}" pid="${i + 2}" name="${escapeXml(name)}"><vt:lpwstr>${escapeXml(value)}</vt:lpwstr></property>`,
  );
  return `${head}<Properties xmlns="${office}/custom-properties" xmlns:vt="${office}/docPropsVTypes">${list.join('')}</Properties>`;
}

function titleXml(title: string): string {
  return `${head}<cp:coreProperties xmlns:cp="${pack}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>${escapeXml(title)}</dc:title></cp:coreProperties>`;
}
