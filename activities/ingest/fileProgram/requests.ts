import type { Range } from '../../../core/grid/grid.ts';
import type { SourceFormat } from '../../../core/jobs/sourceJobs.ts';
import type { RecordColumn } from '../../../core/records/records.ts';
import type {
  KnownLayout,
  Layout,
  NamingChoice,
  NamingLanguage,
  OutputTable,
  ParseSpec,
  SpecRegion,
} from '../../../core/structuring/index.ts';
import type { Layer } from '../../../core/table/table.ts';
import type { SheetExtent } from '../../../schema/index.ts';
import type { CsvEncoding, Delimiter } from '../../../store/csv/index.ts';
import type { WrittenTable } from '../landTables.ts';
import type { ColumnsBefore } from '../matchColumns.ts';
import type { RawSheet } from '../writeRaw.ts';
import type { TableTarget } from '../writeTables.ts';

/**
 * What the process that reads a file is asked for, and what it answers. Paths are as the process sees them. Files that it has
 * written are named in place of their blob keys. `structure` and `buildRegions` leave tables in its memory for what follows.
 */
export interface Steps {
  /** `next`: what `structure` will be asked for, which is worked out meanwhile. */
  writeRaw: {
    request: { input: FileInput; rowBases: [sheet: string, rowBase: number][]; next: NextStructure | null };
    reply: RawSheet[];
  };
  writeRecords: {
    request: { input: FileInput; sourceName: string; choice: NamingChoice; before: ColumnsBefore | null; lastRowId: number };
    reply: { columns: { id: number; name: string; type: string }[]; rows: number; layers: Layer[] };
  };
  analyze: {
    request: { input: FileInput; sourceName: string; choice: NamingChoice; layouts: KnownLayout[] };
    reply: { spec: ParseSpec; extents: SheetExtent[] };
  };
  structure: {
    request: { input: FileInput; wanted: WantedStructure };
    reply: { spec: ParseSpec; understood: string[]; tables: MadeTable[] };
  };
  buildRegions: {
    request: { input: FileInput; sourceName: string; spec: ParseSpec; regions: string[] | null };
    /** The layouts are of sheets that somebody corrected. */
    reply: { tables: MadeTable[]; layouts: Layout[] };
  };
  writeTables: { request: { places: TableTarget[] }; reply: WrittenTable[] };
  /** Rows of these tables, one after the other, as lines of JSON in a file. */
  writeRows: { request: { tables: number[] }; reply: string };
  /** Which cells the rows of a table came from. */
  writeProvenance: { request: { table: number; place: TableTarget }; reply: string | null };
  /** The cells behind one value. */
  listCells: { request: { table: number; row: number; column: number }; reply: string[] };
  /** Cells of a sheet, the first one unless it is named, as they are shown; as JSON. */
  preview: { request: { input: FileInput; sheet: string | null; range: Range }; reply: Buffer };
  /** The same as a picture with these regions; as SVG. */
  drawSheet: { request: { input: FileInput; sheet: string | null; range: Range; regions: SpecRegion[] }; reply: Buffer };
  /** The names of its sheets, hidden ones too. */
  listSheets: { request: { input: FileInput }; reply: string[] };
  /** Cells of a sheet with content, as they are shown, behind another one; `CellPage` as JSON. */
  readCells: {
    request: { input: FileInput; sheet: string | null; after: [row: number, column: number] | null; limit: number };
    reply: Buffer;
  };
  /** Cells that differ between two files, as a list of `SheetDiff` in JSON. */
  diffSheets: { request: { left: FileInput | null; right: FileInput; limit: number }; reply: Buffer };
  /** Opens a file that comes back, and leaves its sheets in memory. */
  openReturned: { request: { input: FileInput }; reply: { branchId: string | null; sheets: ReturnedSheet[] } };
  /** Compares one of its sheets with the export; each answer has rows that differ, as lines of JSON. */
  beginComparison: { request: WantedSheet; reply: Buffer };
  /** `base` is the path of a batch file with rows of the export. */
  compareRows: { request: { base: string }; reply: Buffer };
  endComparison: { request: object; reply: Buffer };
  /** The file is done. */
  forget: { request: object; reply: null };
}

export interface NextStructure {
  wanted: WantedStructure;
  /** Whether it may be there before the raw tables are, because nobody waits for those. */
  mayBeFirst: boolean;
}

export interface WantedStructure {
  sourceName: string;
  /** The language of the source's tables, if it has some; otherwise it is chosen. */
  naming: NamingLanguage | null;
  choice: NamingChoice;
  /** How the same content was structured before. */
  known: { spec: ParseSpec; filename: string } | null;
  /** What people of the account corrected, latest first. */
  layouts: KnownLayout[];
}

export type Step = keyof Steps;
export type StepRequest = { [Op in Step]: { op: Op } & Steps[Op]['request'] }[Step];

export interface FileInput {
  path: string;
  format: SourceFormat;
  filename: string;
  reader?: Reader;
  /** Of a Parquet file, which a query process has turned into lines of JSON. */
  lines?: { columns: RecordColumn[]; rows: number };
}

/** How the bytes of a file are decoded. */
export interface Reader {
  format: SourceFormat;
  encoding?: CsvEncoding;
  delimiter?: Delimiter;
}

/** A table without its rows. */
export type MadeTable = Pick<OutputTable, 'name' | 'role' | 'sheet' | 'regionId' | 'range' | 'columns' | 'rowCount'>;

/** A sheet of a file that came back. */
export interface ReturnedSheet {
  name: string;
  /** The table that it says it is of. */
  tableId: string | null;
  header: (string | null)[];
  /** Rows below the header that hold something. */
  rows: number;
  /** The first merged cells below the header. */
  merged: Range | null;
}

/** A sheet, and the places of its columns in it and in the export. */
export interface WantedSheet {
  sheet: number;
  rowId: number;
  columns: { place: number; type: string; base: number }[];
}
