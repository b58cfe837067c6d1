import { setImmediate as nextTurn } from 'node:timers/promises';
import { readCell } from '../../core/table/cells.ts';
import { mayHold, settleLayers } from '../../core/table/layers.ts';
import type { Cells, ColumnRecord, RowSelection, TableVersion } from '../../core/table/table.ts';
import { type FileRows, openFileRows } from '../duckdb/fileRows.ts';
import { eachYielding } from '../eachYielding.ts';
import { Unreadable } from '../parquet/textDecoders.ts';
import { readLogLayers } from './readLogLayers.ts';
import type { TableStorage } from './tableStorage.ts';

/** Rows of a version, read column by column. */
export interface StoredColumns {
  /** Ascending. */
  ids: number[];
  /** The canonical texts of a column in these rows. */
  texts(column: ColumnRecord): (string | null)[];
}

/** A file or log layer that has the newest content of some rows. */
interface Source {
  /** Indexes into `ids`, and the positions of these rows in the source. */
  rows: number[];
  places: number[];
  texts(column: ColumnRecord): (string | null)[];
}

/** Source null: the row was removed. */
interface PlacedRow {
  source: Source | null;
  place: number;
}

/** Calls `work` with the rows of a selection. Null: only DuckDB can read their files. */
export async function withStoredColumns<T>(
  storage: TableStorage,
  at: TableVersion,
  selection: RowSelection,
  work: (rows: StoredColumns) => Promise<T>,
): Promise<T | null> {
  const wanted = 'ids' in selection ? { ids: [...new Set(selection.ids)].sort((a, b) => a - b) } : selection;
  const near = new Set(at.layers.filter((layer) => mayHold(layer, wanted)));
  const entries = await readLogLayers(storage, at, selection);
  const keys = [...near].flatMap((layer) => (layer.kind === 'log' ? [] : [layer.key]));
  const blobs = await storage.blobs.open(keys);
  const files: FileRows[] = [];
  try {
    const settled = await settleLayers<PlacedRow>(at.layers, async (layer, index) => {
      if (!near.has(layer)) return [];
      if (layer.kind === 'log') {
        const logged = entries.filter((entry) => entry.layer === index);
        const source = readEntries(logged.map(({ cells }) => cells ?? {}));
        return logged.map(({ rowId, cells }, place) => [rowId, { source: cells && source, place }]);
      }
      const file = openFileRows(blobs.pathOf(layer.key), wanted);
      files.push(file);
      const source = readFile(file);
      await nextTurn();
      return file.ids.map((id, place) => [id, { source: file.isRemoved(place) ? null : source, place }]);
    });
    return settled && (await work(orderRows(settled)));
  } catch (error) {
    if (error instanceof Unreadable) return null;
    throw error;
  } finally {
    for (const file of files) file.close();
    blobs.release();
  }
}

function readEntries(cells: Cells[]): Source {
  return {
    rows: [],
    places: [],
    texts: (column) => cells.map((each) => readCell(each, column)),
  };
}

function readFile(file: FileRows): Source {
  return {
    rows: [],
    places: [],
    texts: ({ id, defaultText }) => file.texts(id) ?? new Array<string | null>(file.ids.length).fill(defaultText),
  };
}

function orderRows(settled: Map<number, PlacedRow>): StoredColumns {
  const ids = [...settled].flatMap(([id, { source }]) => (source ? [id] : [])).sort((a, b) => a - b);
  const sources = new Set<Source>();
  for (const [row, id] of ids.entries()) {
    const { source, place } = settled.get(id) as { source: Source; place: number };
    sources.add(source);
    source.rows.push(row);
    source.places.push(place);
  }
  return {
    ids,
    texts(column) {
      const texts = new Array<string | null>(ids.length).fill(null);
      for (const { rows, places, texts: read } of sources) {
        const found = read(column);
        for (let i = 0; i < rows.length; i += 1) texts[rows[i] as number] = found[places[i] as number] ?? null;
      }
      return texts;
    },
  };
}

/** Calls `take` with the texts of each column, letting other requests run in between. */
export function eachColumn(
  rows: StoredColumns,
  columns: ColumnRecord[],
  take: (texts: (string | null)[], index: number) => void,
): Promise<void> {
  return eachYielding(columns, (column, index) => take(rows.texts(column), index));
}
