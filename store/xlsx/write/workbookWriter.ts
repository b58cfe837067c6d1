import { type ByteBatch, decodeBatch } from '../../../core/table/textBatch.ts';
import type { Sink } from '../../blobs/spool.ts';
import { type CellNote, noteBoxesXml, notesXml } from './notes.ts';
import { type BatchExtras, type SheetColumn, SheetWriter } from './sheetWriter.ts';
import { StyleTable } from './styleTable.ts';
import { XmlBuffer } from './xmlBuffer.ts';
import { escapeXml } from './xmlText.ts';
import { type ZipEntryWriter, ZipWriter } from './zipWriter.ts';

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006';
const pack = 'http://schemas.openxmlformats.org/package/2006';
const partType = 'application/vnd.openxmlformats-officedocument';

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
    this.sheetNames.push(name);
    const number = this.sheetNames.length;
    const entry = await this.zip.openEntry(`xl/worksheets/sheet${number}.xml`, { long: isHuge });
    const sheet = new SheetWriter(columns, this.styles);
    const open = new OpenSheet(entry, sheet, number === 1);
    return {
      write: (batch, extras) => open.write(batch, extras),
      end: async () => {
        await open.end();
        if (sheet.notes.length > 0) await this.addNotes(number, sheet.notes);
      },
    };
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
  async finish({ properties = [], sheetMarks = [], hasFormulas = false }: WorkbookEnd = {}): Promise<void> {
    await this.zip.addEntry('xl/styles.xml', this.styles.xml());
    await this.zip.addEntry('xl/workbook.xml', this.workbookXml(sheetMarks, hasFormulas));
    await this.zip.addEntry('xl/_rels/workbook.xml.rels', this.relationsXml());
    if (properties.length > 0) await this.zip.addEntry('docProps/custom.xml', propertiesXml(properties));
    await this.zip.addEntry('_rels/.rels', rootXml(properties.length > 0));
    await this.zip.addEntry('[Content_Types].xml', this.typesXml(properties.length > 0));
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

  private typesXml(hasProperties: boolean): string {
    const overrides = [
      override('/xl/workbook.xml', 'spreadsheetml.sheet.main'),
      ...this.sheetNames.map((_, i) => override(`/xl/worksheets/sheet${i + 1}.xml`, 'spreadsheetml.worksheet')),
      override('/xl/styles.xml', 'spreadsheetml.styles'),
      ...this.notedSheets.map((number) => override(`/xl/comments${number}.xml`, 'spreadsheetml.comments')),
      ...(hasProperties ? [override('/docProps/custom.xml', 'custom-properties')] : []),
    ];
    return `${head}<Types xmlns="${pack}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="vml" ContentType="application/vnd.openxmlformats-officedocument.vmlDrawing"/>${overrides.join('')}</Types>`;
  }
}

const noteBoxesId = 'rIdNoteBoxes';

/** How much XML is given to the compressor at a time. */
const pieceBytes = 256 * 1024;
/** Rows that the widths are fitted to, at most. */
const sampleRows = 1000;

class OpenSheet implements SheetRows {
  private hasBegun = false;
  private out = new XmlBuffer();
  /** What the compressor may still be reading. */
  private given = new XmlBuffer();

  constructor(
    private readonly entry: ZipEntryWriter,
    private readonly sheet: SheetWriter,
    private readonly isFirst: boolean,
  ) {}

  async write(batch: ByteBatch, extras: BatchExtras | null = null): Promise<void> {
    this.begin(batch);
    this.sheet.rows(this.out, batch, extras);
    if (this.out.length >= pieceBytes) await this.handOn();
  }

  async end(): Promise<void> {
    this.begin({ rowCount: 0, columns: [] });
    this.sheet.end(this.out, this.sheet.notes.length > 0 ? `<legacyDrawing r:id="${noteBoxesId}"/>` : '');
    await this.handOn();
    await this.entry.end();
  }

  private begin(batch: ByteBatch): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    const { rowCount, texts } = decodeBatch(batch);
    const sample = { rowCount: Math.min(rowCount, sampleRows), texts: texts.map((column) => column.slice(0, sampleRows)) };
    this.sheet.begin(this.out, sample, this.isFirst);
  }

  private async handOn(): Promise<void> {
    const full = this.out;
    // The piece before has been read when this one is taken.
    await this.entry.write(full.view());
    this.out = this.given;
    this.out.clear();
    this.given = full;
  }
}

function relation(id: string, type: string, target: string): string {
  return `<Relationship Id="${id}" Type="${office}/relationships/${type}" Target="${target}"/>`;
}

function relationsXml(relations: string[]): string {
  return `${head}<Relationships xmlns="${pack}/relationships">${relations.join('')}</Relationships>`;
}

function rootXml(hasProperties: boolean): string {
  const custom = hasProperties ? [relation('rId2', 'custom-properties', 'docProps/custom.xml')] : [];
  return relationsXml([relation('rId1', 'officeDocument', 'xl/workbook.xml'), ...custom]);
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
