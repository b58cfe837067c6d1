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
import { matchColumns } from '../matchColumns.ts';
import { writeRaw } from '../writeRaw.ts';
import { writeRecords } from '../writeRecords.ts';
import { writeProvenance, writeTables } from '../writeTables.ts';
import { buildRegions } from './buildRegions.ts';
import { ReturnedComparison } from './compareReturned.ts';
import { diffSheets } from './diffSheets.ts';
import { drawPreview } from './drawPreview.ts';
import { listUnderstood } from './listUnderstood.ts';
import { openSheets, readCells } from './readCells.ts';
import { memoryLimits, openRecords, readGrids } from './readInput.ts';
import { readPreview } from './readPreview.ts';
import { describeReturned, openReturned, type ReturnedFile } from './readReturned.ts';
import type { MadeTable, Step, Steps, WantedStructure } from './requests.ts';
import { writeRows } from './writeRows.ts';

/** Of a file; there is one for each cause. */
const mostFindings = 500;

export type Handlers = { [Op in Step]: (request: Steps[Op]['request']) => Promise<Steps[Op]['reply']> };

export interface FileTools extends DraftStorage {
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

/** The work on one file after the other, each in several steps. */
export function handleFiles(tools: FileTools): Handlers {
  const { step } = tools;
  /** What writing the raw tables has read of the file. */
  let read: Grid[] | null = null;
  /** What was worked out of it before it is asked for. */
  let ahead: { wanted: string; made: Structured } | null = null;
  let grids: Grid[] = [];
  let tables: OutputTable[] = [];
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

  /** Begun after the answer, while the caller stores the raw tables. What fails now fails again when it is asked for. */
  const workAhead = (stored: Grid[], reader: ParseSpec['reader'], wanted: WantedStructure) => {
    if (read !== stored) return;
    try {
      ahead = { wanted: JSON.stringify(wanted), made: structureGrids(stored, reader, wanted) };
    } catch {}
  };

  return {
    async writeRaw({ input, rowBases, next }) {
      const bases = new Map(rowBases);
      const place = (_: number, sheet: string) => ({ prefix: '', rowBase: bases.get(sheet) ?? 0 });
      const { sheets, grids } = await writeRaw(tools, input, place, { step }, next ? memoryLimits : null);
      read = grids ?? null;
      if (grids && next) setImmediate(workAhead, grids, { format: input.format }, next);
      return sheets;
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
        if (ahead?.wanted === JSON.stringify(wanted)) return ahead.made;
        const { grids: stored, reader } = read ? { grids: read, reader: { format: input.format } } : await readGrids(input);
        return structureGrids(stored, reader, wanted);
      };
      const made = await find();
      [read, ahead] = [null, null];
      return { spec: made.spec, understood: made.understood, tables: keep(made) };
    },

    async buildRegions({ input, sourceName, spec, regions }) {
      const built = await buildRegions(input, spec, regions);
      return { tables: keep(built), layouts: spec.corrected ? describeLayouts(built.grids, spec, sourceName) : [] };
    },

    writeTables: ({ places }) => writeTables(tools, grids, tables, places, { step }),

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
      [read, ahead] = [null, null];
      returned = null;
      comparison = null;
      keep({ grids: [], tables: [] });
      return null;
    },
  };
}
