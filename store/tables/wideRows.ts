import { rowIdColumn } from '../../core/table/table.ts';
import type { VisibleColumn } from '../../core/table/visibleTable.ts';
import { cellText } from '../duckdb/cellText.ts';
import { readAll, withRelation } from '../duckdb/engine.ts';
import { quoteName } from '../duckdb/relation.ts';
import { mostColumnsAtOnce } from '../duckdb/wide.ts';
import { openProjection, type PageRow, selectRows } from './fetchRows.ts';
import { requireSmallPage } from './pageSize.ts';
import { describeCells, type Projection, type ShownCell } from './projection.ts';
import { eachColumn, withStoredColumns } from './storedColumns.ts';
import type { TableStorage } from './tableStorage.ts';

/** How many columns are written at a time. */
const joined = 64;

/** Rows with very many columns by ids, in that order. */
export async function readWideRows(storage: TableStorage, projection: Projection, ids: number[]): Promise<PageRow[]> {
  const { stored, cells } = describeCells(projection.columns);
  const restOf = (from: number) => cells.slice(from).reduce((sum, { key }) => sum + key.length + 3, 0);
  const written = await withStoredColumns(storage, projection.visible.at, { ids }, async (rows) => {
    const texts = rows.ids.map(() => '{');
    const writeNow = (from: number, to: number, byColumn: (string | null)[][]) => {
      let length = 0;
      for (let row = 0; row < texts.length; row += 1) {
        const parts: string[] = [];
        for (let i = from; i < to; i += 1) {
          const { key, write } = cells[i] as ShownCell;
          const text = byColumn[i - from]?.[row] ?? null;
          parts.push(`${i === 0 ? '' : ','}${key}:${write(text)}`);
        }
        texts[row] += parts.join('');
        length += (texts[row] as string).length;
      }
      // The remaining columns will add at least their names.
      requireSmallPage(length + restOf(to) * texts.length);
    };
    requireSmallPage(restOf(0) * texts.length);
    const idTexts = rows.ids.map(String);
    let waiting: (string | null)[][] = [];
    let next = 0;
    const put = (values: (string | null)[]) => {
      waiting.push(values);
      if (waiting.length < joined && next + waiting.length < cells.length) return;
      writeNow(next, next + waiting.length, waiting);
      next += waiting.length;
      waiting = [];
    };
    const putUnstored = () => {
      for (let cell = cells[next + waiting.length]; cell && !cell.type; cell = cells[next + waiting.length])
        put(cell.isRowId ? idTexts : []);
    };
    putUnstored();
    await eachColumn(rows, stored, (values) => {
      put(values);
      putUnstored();
    });
    return new Map(rows.ids.map((id, row) => [id, `${texts[row]}}`]));
  });
  if (!written) return readInSlices(storage, projection, ids);
  return ids.flatMap((id) => (written.has(id) ? [{ id, json: written.get(id) as string }] : []));
}

/** Reads some columns at a time with DuckDB, for files that only it can read. */
async function readInSlices(storage: TableStorage, { visible, columns }: Projection, ids: number[]): Promise<PageRow[]> {
  const texts = new Map<number, string>();
  for (let first = 0; first < columns.length; first += mostColumnsAtOnce) {
    const part = { visible, columns: columns.slice(first, first + mostColumnsAtOnce) };
    for (const { id, json } of await selectRows(storage, part, { ids }))
      texts.set(id, first === 0 ? json : `${texts.get(id)?.slice(0, -1)},${json.slice(1)}`);
    requireSmallPage([...texts.values()].reduce((sum, text) => sum + text.length, 0));
  }
  return ids.flatMap((id) => (texts.has(id) ? [{ id, json: texts.get(id) as string }] : []));
}

interface WideTexts {
  rowCount: number;
  /** Of each column. */
  texts: (string | null)[][];
}

/**
 * The canonical texts of rows with very many columns by ids, in that order, column by column. Ids of rows that are not there
 * are left out.
 */
export async function readWideTexts(storage: TableStorage, { visible, columns }: Projection, ids: number[]): Promise<WideTexts> {
  const { stored, cells } = describeCells(columns);
  const found = await withStoredColumns(storage, visible.at, { ids }, async (rows) => {
    const placeOf = new Map(rows.ids.map((id, place) => [id, place]));
    const places = ids.flatMap((id) => placeOf.get(id) ?? []);
    const inOrder = (texts: (string | null)[]) => places.map((place) => texts[place] ?? null);
    const read = new Map<VisibleColumn, (string | null)[]>();
    await eachColumn(rows, stored, (texts, i) => {
      read.set(stored[i] as VisibleColumn, inOrder(texts));
    });
    const idTexts = inOrder(rows.ids.map(String));
    const nothing = inOrder([]);
    return { rowCount: places.length, texts: cells.map(({ column, isRowId }) => read.get(column) ?? (isRowId ? idTexts : nothing)) };
  });
  return found ?? readTextSlices(storage, { visible, columns }, ids);
}

/** The same with DuckDB, some columns at a time. */
async function readTextSlices(storage: TableStorage, { visible, columns }: Projection, ids: number[]): Promise<WideTexts> {
  const texts: (string | null)[][] = [];
  let rowCount = 0;
  for (let first = 0; first < columns.length; first += mostColumnsAtOnce) {
    const part = columns.slice(first, first + mostColumnsAtOnce);
    const list = part.map(({ name, type }) => cellText(quoteName(name), type)).join(', ');
    const relation = await openProjection(storage, { visible, columns: part }, { ids });
    const rows = await withRelation(storage.engine, storage.blobs, relation, (connection, from) =>
      readAll(connection, `SELECT CAST(${rowIdColumn} AS DOUBLE), ${list} FROM ${from}`),
    );
    const byId = new Map(rows.map(([id, ...cells]) => [id as number, cells as (string | null)[]]));
    const found = ids.flatMap((id) => (byId.has(id) ? [byId.get(id) as (string | null)[]] : []));
    rowCount = found.length;
    texts.push(...part.map((_, i) => found.map((cells) => cells[i] ?? null)));
  }
  return { rowCount, texts };
}
