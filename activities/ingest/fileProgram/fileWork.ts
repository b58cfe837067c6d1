import { stat } from 'node:fs/promises';
import { checkFormulas, computeFormulas } from '../../../core/formula/computeFormulas.ts';
import type { Grid } from '../../../core/grid/grid.ts';
import { nameRecordColumns } from '../../../core/structuring/headers/columnNames.ts';
import {
  analyze,
  type BuildResult,
  build,
  chooseLanguage,
  describeLayouts,
  describeRecords,
  type KnownLayout,
  listCells,
  listDoubtful,
  listTexts,
  namingOf,
  type OutputTable,
  type ParseSpec,
  recallLayouts,
  summarizeSheets,
} from '../../../core/structuring/index.ts';
import { baseOfFile } from '../../../core/structuring/names/names.ts';

import type { DraftStorage } from '../../../store/duckdb/writeFile.ts';
import type { WrittenTable } from '../landTables.ts';
import { matchColumns } from '../matchColumns.ts';
import { type RawSheet, writeGrids, writeRaw } from '../writeRaw.ts';
import { writeRecords } from '../writeRecords.ts';
import { type TableTarget, writeProvenance, writeTables } from '../writeTables.ts';
import { buildRegions } from './buildRegions.ts';
import { ReturnedComparison } from './compareReturned.ts';
import { type CopyThread, placeByBase } from './copyThread.ts';
import { diffSheets } from './diffSheets.ts';
import { drawPreview } from './drawPreview.ts';
import { listUnderstood } from './listUnderstood.ts';
import { openSheets, readCells } from './readCells.ts';
import { memoryLimits, openRecords, readGrids } from './readInput.ts';
import { readKept } from './readKept.ts';
import { readPreview } from './readPreview.ts';
import { describeReturned, openReturned, type ReturnedFile } from './readReturned.ts';
import type { MadeTable, Step, Steps, WantedStructure } from './requests.ts';
import { writeRows } from './writeRows.ts';

/** Of a file; there is one for each cause. */
const mostFindings = 500;

export type Handlers = { [Op in Step]: (request: Steps[Op]['request']) => Promise<Steps[Op]['reply']> };

/** Copying fewer cells takes less than starting a thread does. */
const manyCells = 250_000;
/** Files that mostly have so many: the thread starts while they are read. */
const manyBytes = 2_000_000;

export interface FileTools extends DraftStorage {
  /** Starts a thread that writes the raw tables of a large workbook beside other work, to the folder of the blobs. */
  startCopyThread?(): CopyThread;
  /** Reports progress. */
  step(done: number, total: number | null): void;
}

/** What somebody corrected is followed as long as every sheet is still understood that way. */
function followLayouts(
  grids: Grid[],
  proposed: ParseSpec,
  layouts: KnownLayout[],
  sourceName: string,
): { spec: ParseSpec; result: BuildResult } {
  const { learned: _, ...plain } = proposed;
  const spec = recallLayouts(grids, plain, layouts, sourceName);
  const result = build(grids, spec, sourceName);
  const raw = new Set(result.rawSheets.map(({ sheet }) => sheet));
  if (!spec.learned?.some(({ sheet }) => raw.has(sheet))) return { spec, result };
  return { spec: plain, result: build(grids, plain, sourceName) };
}

interface Structured {
  grids: Grid[];
  spec: ParseSpec;
  understood: string[];
  tables: OutputTable[];
}

function structureGrids(stored: Grid[], reader: ParseSpec['reader'], wanted: WantedStructure): Structured {
  const { sourceName, naming: kept, choice, known, layouts } = wanted;
  const grids = checkFormulas(computeFormulas(stored));
  const naming = kept ?? chooseLanguage(choice, [sourceName], ...listTexts(grids));
  const isKnown = known && (known.spec.naming ?? 'ja') === naming && baseOfFile(known.filename) === baseOfFile(sourceName);
  const proposed = isKnown ? known.spec : { ...analyze(grids, sourceName, naming), reader };
  const { spec, result } = followLayouts(grids, proposed, layouts, sourceName);
  const understood = listUnderstood(result);
  const tables = result.tables.filter(({ sheet }) => understood.has(sheet));
  const findings = result.findings.slice(0, mostFindings);
  const doubtful = listDoubtful(spec.regions, result.rawSheets);
  return { grids, spec: { ...spec, findings, doubtful }, understood: [...understood], tables };
}

const countCells = (grids: Grid[]): number => grids.reduce((sum, { size }) => sum + size, 0);

/** Where a table goes that no earlier one gave its columns and rows their numbers. */
const placeNew = ({ columns }: OutputTable): TableTarget => ({
  tableId: '',
  prefix: '',
  rowBase: 0,
  columnIds: columns.map((_, k) => k + 1),
});

const isNew = (place: TableTarget | undefined, { columns }: OutputTable): boolean =>
  place?.rowBase === 0 && !place.rowIds && place.columnIds.length === columns.length && place.columnIds.every((id, k) => id === k + 1);

/** The work on one file after the other, each in several steps. */
export function handleFiles(tools: FileTools): Handlers {
  const { step } = tools;
  /** What writing the raw tables has read of the file. */
  let read: Grid[] | null = null;
  /** What was worked out of it before it is asked for, and is being written as new tables. */
  let ahead: { wanted: string; made: Structured; written: Promise<WrittenTable[] | null> } | null = null;
  let grids: Grid[] = [];
  let tables: OutputTable[] = [];
  let written: Promise<WrittenTable[] | null> | null = null;
  let returned: ReturnedFile | null = null;
  let comparison: ReturnedComparison | null = null;

  const keep = (made: { grids: Grid[]; tables: OutputTable[] }): MadeTable[] => {
    ({ grids, tables } = made);
    return tables.map(({ name, role, sheet, regionId, range, columns, rowCount }) => ({
      name,
      role,
      sheet,
      regionId,
      range,
      columns,
      rowCount,
    }));
  };
  const tableAt = (index: number): { table: OutputTable; grid: Grid } => {
    const table = tables[index];
    const grid = grids.find(({ sheet }) => sheet === table?.sheet);
    if (!table || !grid) throw new Error(`there is no table ${index}`);
    return { table, grid };
  };

  /** What fails now fails again when it is asked for. */
  const workAhead = (stored: Grid[], reader: ParseSpec['reader'], wanted: WantedStructure, isFirst: boolean) => {
    if (read !== stored) return;
    try {
      const made = structureGrids(stored, reader, wanted);
      const writing = isFirst ? writeTables(tools, made.grids, made.tables, made.tables.map(placeNew), { step() {} }) : null;
      ahead = { wanted: JSON.stringify(wanted), made, written: writing?.catch(() => null) ?? Promise.resolve(null) };
    } catch {}
  };

  /** The structure is worked out while the raw tables are written, or, after the answer, while the caller stores them. */
  const copyKept = async (
    kept: Grid[],
    { input, rowBases, next }: Steps['writeRaw']['request'],
    thread: CopyThread | undefined,
  ): Promise<RawSheet[]> => {
    const copying = thread?.copy(kept, rowBases) ?? writeGrids(tools, kept, placeByBase(rowBases));
    const work = () => next && workAhead(kept, { format: input.format }, next.wanted, rowBases.length === 0);
    const isBeside = thread !== undefined && next?.mayBeFirst === true;
    if (isBeside) work();
    const sheets = await copying;
    if (!isBeside) setImmediate(work);
    return sheets;
  };

  return {
    async writeRaw(request) {
      const { input, rowBases, next } = request;
      const isKept = next !== null && input.format === 'xlsx';
      let thread = isKept && (await stat(input.path)).size > manyBytes ? tools.startCopyThread?.() : undefined;
      try {
        read = isKept ? await readKept(input.path, memoryLimits, step) : null;
        if (!read) return (await writeRaw(tools, input, placeByBase(rowBases), { step })).sheets;
        const hasMany = countCells(read) > manyCells;
        if (hasMany) thread ??= tools.startCopyThread?.();
        return await copyKept(read, request, hasMany ? thread : undefined);
      } finally {
        await thread?.end();
      }
    },

    async writeRecords({ input, sourceName, choice, before, lastRowId }) {
      const records = await openRecords(input);
      try {
        const given = records.columns.map(({ name }) => name);
        const names = nameRecordColumns(given, namingOf({ naming: chooseLanguage(choice, [sourceName], given) }));
        const named = records.columns.map(({ type }, k) => ({ name: names[k] ?? '', type }));
        const ids = before ? matchColumns(before, named) : named.map((_, k) => k + 1);
        const columns = named.map((column, k) => ({ id: ids[k] ?? 0, ...column }));
        const written = await writeRecords(tools, records.batches(), { prefix: '', lastRowId, columns }, records.rows, { step });
        return { columns, ...written };
      } finally {
        await records.close();
      }
    },

    async analyze({ input, sourceName, choice, layouts }) {
      const { grids: stored, reader, typed } = await readGrids(input);
      const grids = computeFormulas(stored);
      const naming = chooseLanguage(choice, [sourceName], ...listTexts(grids));
      const spec = typed
        ? { ...describeRecords(grids, typed, sourceName, naming), reader }
        : recallLayouts(grids, { ...analyze(grids, sourceName, naming), reader }, layouts, sourceName);
      return { spec, extents: summarizeSheets(grids) };
    },

    async structure({ input, wanted }) {
      const find = async () => {
        if (ahead?.wanted === JSON.stringify(wanted)) return ahead;
        const { grids: stored, reader } = read ? { grids: read, reader: { format: input.format } } : await readGrids(input);
        return { made: structureGrids(stored, reader, wanted), written: null };
      };
      const found = await find();
      const { made } = found;
      [read, ahead, written] = [null, null, found.written];
      return { spec: made.spec, understood: made.understood, tables: keep(made) };
    },

    async buildRegions({ input, sourceName, spec, regions }) {
      const built = await buildRegions(input, spec, regions);
      return { tables: keep(built), layouts: spec.corrected ? describeLayouts(built.grids, spec, sourceName) : [] };
    },

    async writeTables({ places }) {
      const early = tables.every((table, i) => isNew(places[i], table)) ? await written : null;
      // Files of tables that are written once more must be others.
      written = null;
      if (!early) return writeTables(tools, grids, tables, places, { step });
      const rows = early.reduce((sum, { rowCount }) => sum + rowCount, 0);
      step(rows, rows);
      return early.map((table, i) => ({ ...table, tableId: places[i]?.tableId ?? '' }));
    },

    writeRows: ({ tables: chosen }) =>
      writeRows(
        tools.blobs,
        chosen.map((index) => tableAt(index).table),
      ),

    async writeProvenance({ table: index, place }) {
      const { table, grid } = tableAt(index);
      return writeProvenance(tools, grid, table, place);
    },

    async listCells({ table: index, row, column }) {
      const { table, grid } = tableAt(index);
      return listCells(grid, table, row, column);
    },

    preview: async ({ input, sheet, range }) => Buffer.from(JSON.stringify(await readPreview(input, sheet, range))),

    drawSheet: async ({ input, sheet, range, regions }) => Buffer.from(drawPreview(await readPreview(input, sheet, range), range, regions)),

    async listSheets({ input }) {
      const file = await openSheets(input);
      await file.close();
      return file.sheets;
    },

    readCells: async ({ input, ...wanted }) => Buffer.from(JSON.stringify(await readCells(input, wanted))),

    diffSheets: async ({ left, right, limit }) => Buffer.from(JSON.stringify(await diffSheets(left, right, limit))),

    async openReturned({ input }) {
      returned = await openReturned(input);
      return { branchId: returned.branchId, sheets: describeReturned(returned) };
    },

    async beginComparison(wanted) {
      if (!returned) throw new Error('no file is open');
      comparison = new ReturnedComparison(returned, wanted);
      return comparison.begin();
    },

    async compareRows({ base }) {
      if (!comparison) throw new Error('no sheet is being compared');
      return comparison.compare(base);
    },

    async endComparison() {
      if (!comparison) throw new Error('no sheet is being compared');
      return comparison.end();
    },

    async forget() {
      await Promise.all([ahead?.written, written]);
      const isLarge = countCells(read ?? grids) > manyCells;
      [read, ahead, written] = [null, null, null];
      returned = null;
      comparison = null;
      keep({ grids: [], tables: [] });
      // What threads may share is not counted by the collector, which would leave it for long. After other files nothing is collected by
      // force: compiled code goes with the objects that it was compiled for, and the next file would take twice the time.
      if (isLarge) globalThis.gc?.();
      return null;
    },
  };
}
