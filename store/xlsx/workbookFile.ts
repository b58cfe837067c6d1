/** An open workbook: its sheets one by one, as grids or as batches of rows. */

import type { RowBatch } from '../../core/grid/batch.ts';
import type { CellStyle, Grid } from '../../core/grid/grid.ts';
import { isId } from '../../core/ids/ids.ts';
import { BlankRuns } from './blankRuns.ts';
import { branchProperty, findSheetMark } from './branchMarks.ts';
import type { FormatLocale } from './builtinFormats.ts';
import { type ByteSource, openSource } from './byteSource.ts';
import { ByteWindow } from './byteWindow.ts';
import type { CellContext, CellRoom } from './cellScan.ts';
import { boundCells, readClaimedCells } from './claimedCells.ts';
import { readCustomProperties } from './customProperties.ts';
import { refuseDamaged, refuseTooLarge } from './fileRefusals.ts';
import { FormulaBudget } from './formulaBudget.ts';
import { checkClaimedSizes, UnpackBudget, type UnpackContext, unpackEntry } from './inflate.ts';
import { readPivots, readTables } from './listObjects.ts';
import { makeBatches } from './makeBatches.ts';
import { makeGrid } from './makeGrid.ts';
import { Package } from './package.ts';
import { fillLimits, type ReadOptions } from './readLimits.ts';
import { checkIsZip, refusePackage } from './recognise.ts';
import { readSharedStrings, type SharedStrings } from './sharedStrings.ts';
import type { SheetLayout } from './sheetLayout.ts';
import { SheetScanner } from './sheetScan.ts';
import { StringPool } from './stringPool.ts';
import { readStyles, type StyleBook } from './styles.ts';
import { placeNames, readWorkbookPart } from './workbookPart.ts';
import { recodeXml } from './xmlEncoding.ts';
import { readZipIndex, type ZipEntry } from './zip.ts';

export interface WorkbookOptions extends ReadOptions {
  /** The language of builtin formats; detected from the file when not given. */
  locale?: FormatLocale;
}

export interface SheetInfo {
  name: string;
  state: NonNullable<Grid['state']>;
  /** Size of the sheet's XML as the file claims: an estimate of how large the sheet is. */
  bytes: number;
  /** Defined names that point into it. */
  names: Grid['names'];
}

export interface ScanOptions {
  /** Rows of a batch, at most. */
  batchRows?: number;
  /** False leaves formulas out, which saves time where they are not needed. */
  formulas?: boolean;
  /** Filled with widths, heights and merged cells while the sheet is read. */
  layout?: SheetLayout;
  /** Cells of rows below need not be read. */
  lastRow?: number;
}

interface Sheet extends SheetInfo {
  path: string;
  entry: ZipEntry;
}

const BATCH_ROWS = 8192;
/** Cells of a batch, unless one row has more. */
const BATCH_CELLS = 262_144;

/** To unpack more than this for the sake of the merged cells at its end would take longer than people wait for a preview. */
const MAX_PASSED_BYTES = 128 * 1024 * 1024;

type Relations = Awaited<ReturnType<Package['readRelations']>>;

/** The package, and the part of it that lists the sheets. */
async function readRoot(
  source: ByteSource,
  options: ReadOptions | undefined,
): Promise<{ pack: Package; part: ReturnType<typeof readWorkbookPart>; relations: Relations }> {
  const limits = fillLimits(options);
  options?.signal?.throwIfAborted();
  if (source.size > limits.fileBytes) throw refuseTooLarge(`The file is larger than ${limits.fileBytes} bytes.`);
  await checkIsZip(source);
  const index = await readZipIndex(source, limits);
  checkClaimedSizes(index, limits);
  const pack = new Package({ source, limits, budget: new UnpackBudget(limits), signal: options?.signal }, index);
  const root = (await pack.readRelations('')).find((relation) => relation.type === 'officeDocument')?.target ?? 'xl/workbook.xml';
  const xml = root.endsWith('.bin') ? null : await pack.readText(root);
  if (xml === null) throw refusePackage(index);
  if (!/<(?:[\w.-]+:)?workbook[\s>]/.test(xml)) throw refusePackage(index);
  return { pack, part: readWorkbookPart(xml, limits), relations: await pack.readRelations(root) };
}

const hasMacros = (relations: Relations): boolean => relations.some(({ type }) => type === 'vbaProject');

export class WorkbookFile {
  /** Bytes of the sheets' XML that were read so far. */
  scannedBytes = 0;
  private idlePool: StringPool | null = null;
  private readonly formulaBudget: FormulaBudget;

  private constructor(
    private readonly pack: Package,
    private readonly list: Sheet[],
    private readonly book: StyleBook,
    private readonly strings: SharedStrings,
    readonly date1904: boolean,
    /** Sheets without cells (charts, dialogs, macros), by name. */
    readonly skipped: string[],
    readonly hasMacros: boolean,
  ) {
    this.formulaBudget = new FormulaBudget(pack.context.limits);
  }

  static async open(input: string | Uint8Array, options?: WorkbookOptions): Promise<WorkbookFile> {
    const source = await openSource(input);
    try {
      return await WorkbookFile.read(source, options);
    } catch (error) {
      await source.close();
      throw error;
    }
  }

  /** Whether the file is a workbook at all, and of which kind; its sheets are not looked at. */
  static async recognise(input: string | Uint8Array, options?: ReadOptions): Promise<{ hasMacros: boolean }> {
    const source = await openSource(input);
    try {
      const { relations } = await readRoot(source, options);
      return { hasMacros: hasMacros(relations) };
    } finally {
      await source.close();
    }
  }

  private static async read(source: ByteSource, options: WorkbookOptions | undefined): Promise<WorkbookFile> {
    const { pack, part, relations } = await readRoot(source, options);
    const relationById = new Map(relations.map((relation) => [relation.id, relation]));
    const findPart = (type: string): string | undefined => relations.find((relation) => relation.type === type)?.target;
    const list: Sheet[] = [];
    const skipped: string[] = [];
    const names = placeNames(part);
    for (const sheet of part.sheets) {
      const relation = relationById.get(sheet.relationId);
      const entry = relation && pack.find(relation.target);
      if (relation && relation.type !== 'worksheet') skipped.push(sheet.name);
      else if (!relation || !entry) throw refuseDamaged(`the sheet ${sheet.name} is missing`);
      else
        list.push({
          name: sheet.name,
          state: sheet.state,
          bytes: entry.size,
          path: relation.target,
          entry,
          names: names.get(sheet.name.toLowerCase()) ?? [],
        });
    }
    const book = readStyles(await pack.readText(findPart('styles')), await pack.readText(findPart('theme')), options?.locale);
    const stringsPath = findPart('sharedStrings');
    const strings = await readSharedStrings(pack.context, stringsPath === undefined ? undefined : pack.find(stringsPath));
    return new WorkbookFile(pack, list, book, strings, part.date1904, skipped, hasMacros(relations));
  }

  get sheets(): SheetInfo[] {
    return this.list.map(({ name, state, bytes, names }) => ({ name, state, bytes, names }));
  }

  /** The branch that the file was exported for, if it was; programs that drop properties may keep names. */
  async findBranch(): Promise<string | null> {
    const stated = (await readCustomProperties(this.pack)).get(branchProperty)?.trim() ?? '';
    if (isId(stated, 'brn')) return stated;
    for (const { names } of this.list) {
      const mark = findSheetMark(names);
      if (mark) return mark.branchId;
    }
    return null;
  }

  /** What `styleIds` of grids and batches point into. */
  get styles(): CellStyle[] {
    return this.book.styles;
  }

  /** Cells of all sheets, at most, as far as that can be told without reading them. If there are more than asked about, sheets are asked. */
  async estimateCells(about: number): Promise<number> {
    const bound = this.list.reduce((sum, { entry }) => sum + boundCells(entry), 0);
    if (bound <= about) return bound;
    let cells = 0;
    for (const { entry } of this.list) {
      const claimed = await readClaimedCells(this.freshContext(), entry);
      cells += Math.min(boundCells(entry), claimed ?? Number.POSITIVE_INFINITY);
    }
    return cells;
  }

  /** @param held cells of other sheets that are in memory, too. */
  async readSheet(sheet: number | string, held = 0): Promise<Grid> {
    const { name, state, names, path, entry } = this.findSheet(sheet);
    const room = this.roomBeside(held);
    const expectedCells = Math.min(boundCells(entry), room.cells);
    const context = { ...this.makeContext(new BlankRuns(this.book.visible), true, room), expectedCells };
    const scanner = new SheetScanner(context);
    // It never pauses: one step goes to the end.
    await this.feed(scanner, entry, name).next();
    const listObjects = await readTables(this.pack, path, scanner.tableIds);
    const pivots = await readPivots(this.pack, path);
    const grid = makeGrid(scanner, context, { sheet: name, state, names, listObjects, pivots });
    this.idlePool = context.pool;
    return grid;
  }

  /** The cells of a sheet of any size, some thousand rows at a time. */
  async *scanSheet(sheet: number | string, options: ScanOptions = {}): AsyncGenerator<RowBatch, void, undefined> {
    const { name, entry } = this.findSheet(sheet);
    const { layout, lastRow = Number.POSITIVE_INFINITY } = options;
    const context = this.makeContext(null, options.formulas ?? true, this.roomOfSheet());
    const scanner = new SheetScanner(context, { rows: options.batchRows ?? BATCH_ROWS, cells: BATCH_CELLS }, layout);
    for await (const _ of this.feed(scanner, entry, name)) {
      yield* drain(scanner, context);
      if (scanner.cell.row <= lastRow) continue;
      // Merged cells stand at the end of the sheet.
      if (!layout || entry.size > MAX_PASSED_BYTES) return;
      scanner.passCells = true;
    }
    yield* drain(scanner, context);
    layout?.takeMerges(scanner.merges);
    this.idlePool = context.pool;
  }

  async close(): Promise<void> {
    await this.pack.context.source.close();
  }

  private findSheet(sheet: number | string): Sheet {
    const found = typeof sheet === 'number' ? this.list[sheet] : this.list.find(({ name }) => name === sheet);
    if (!found) throw new RangeError(`There is no sheet ${sheet}.`);
    return found;
  }

  private roomOfSheet(): CellRoom {
    const { cellsPerSheet } = this.pack.context.limits;
    return { cells: cellsPerSheet, refusal: `A sheet has more than ${cellsPerSheet} cells.` };
  }

  private roomBeside(held: number): CellRoom {
    const { cellsPerSheet, cellsInMemory } = this.pack.context.limits;
    if (cellsPerSheet <= cellsInMemory - held) return this.roomOfSheet();
    return { cells: cellsInMemory - held, refusal: `The workbook has more than ${cellsInMemory} cells.` };
  }

  private makeContext(blanks: BlankRuns | null, keepFormulas: boolean, room: CellRoom): CellContext {
    return {
      styles: this.book,
      date1904: this.date1904,
      limits: this.pack.context.limits,
      room,
      pool: this.takePool(),
      blanks,
      keepFormulas,
      formulaBudget: this.formulaBudget,
    };
  }

  /** Pools can be large, so sheets that are read one after the other share one. */
  private takePool(): StringPool {
    const pool = this.idlePool ?? new StringPool(this.strings);
    this.idlePool = null;
    pool.reset();
    return pool;
  }

  /** A budget for each pass: a sheet may be read more than once. */
  private freshContext(): UnpackContext {
    return { ...this.pack.context, budget: new UnpackBudget(this.pack.context.limits) };
  }

  /** Scans the whole sheet; yields whenever the scanner pauses. */
  private async *feed(scanner: SheetScanner, entry: ZipEntry, name: string): AsyncGenerator<void, void, undefined> {
    const { limits } = this.pack.context;
    const window = new ByteWindow(limits.elementBytes);
    for await (const chunk of recodeXml(unpackEntry(this.freshContext(), entry))) {
      this.scannedBytes += chunk.length;
      window.append(chunk);
      for (;;) {
        window.start = scanner.scan(window.bytes, window.start, window.end);
        if (!scanner.paused) break;
        yield;
      }
    }
    if (scanner.insideCells || window.start < window.end) throw refuseDamaged(`the sheet ${name} is cut off`);
  }
}

/** Returns what was collected so far and starts over. */
function* drain(scanner: SheetScanner, context: CellContext): Generator<RowBatch, void, undefined> {
  const { cells, formulas } = scanner.cell;
  formulas.settle(cells);
  cells.sort();
  formulas.spreadArrays(cells);
  yield* makeBatches(cells, 0, cells.size, context.pool.strings, formulas.formulas);
  cells.clear();
  context.pool.reset();
  formulas.reset(scanner.cell.row);
}
