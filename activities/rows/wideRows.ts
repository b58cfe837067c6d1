import type { Readable } from 'node:stream';
import type { Principal } from '../../core/access/principal.ts';
import { cellJson } from '../../core/cells/cellJson.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { DomainError } from '../../core/errors.ts';
import { type ColumnRecord, rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { readAll, withRelation } from '../../store/duckdb/engine.ts';
import { writeArrow } from '../../store/duckdb/formats/arrowTexts.ts';
import type { RelationColumn } from '../../store/duckdb/relation.ts';
import { mostAtOnce } from '../../store/duckdb/wide.ts';
import type { Services } from '../../store/services.ts';
import { keepNamed } from '../tables/narrowTable.ts';
import { openUnmasked } from '../tables/openTable.ts';
import { fetchRows } from './fetchRows.ts';
import type { PageRow } from './lookUpRows.ts';
import { requireModest } from './rowsQuery.ts';
import { eachColumn, withStoredColumns } from './storedColumns.ts';

/** The ids of the rows after a place, in row order: dense or nearly so, and where they are not, the next look sees further. */
export async function listIdsAfter(services: Services, at: TableAt, start: number, count: number): Promise<number[]> {
  const last = at.table.nextRowId - 1;
  const ids: number[] = [];
  for (let [after, width] = [start, count]; ids.length < count && after < last; width *= 8) {
    const span = { min: after + 1, max: Math.min(last, after + width) };
    const found = await withStoredColumns(services, at, span, async (rows) => rows.ids);
    if (!found) return listByEngine(services, at, start, count);
    for (const id of found) ids.push(id);
    after = span.max;
  }
  return ids.slice(0, count);
}

async function listByEngine(services: Services, at: TableAt, start: number, count: number): Promise<number[]> {
  const relation = await openUnmasked(services, { ...at, columns: [] }, { min: start + 1, max: at.table.nextRowId });
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const rows = await readAll(connection, `SELECT CAST(${rowIdColumn} AS DOUBLE) FROM ${from} ORDER BY ${rowIdColumn} LIMIT ${count}`);
    return rows.map(([id]) => id as number);
  });
}

/** Texts of so many columns are put together at a time. */
const joined = 64;

/** Rows of many columns by their ids, in that order. */
export async function readWideRows(
  services: Services,
  principal: Principal,
  at: TableAt,
  columns: RelationColumn[],
  ids: number[],
): Promise<PageRow[]> {
  const { stored, cells } = describeCells(at, columns);
  const restOf = (from: number) => cells.slice(from).reduce((sum, { key }) => sum + key.length + 3, 0);
  const written = await withStoredColumns(services, at, { ids }, async (rows) => {
    const texts = rows.ids.map(() => '{');
    const writeNow = (from: number, to: number, byColumn: (string | null)[][]) => {
      let length = 0;
      for (let row = 0; row < texts.length; row += 1) {
        const parts: string[] = [];
        for (let i = from; i < to; i += 1) {
          const { key, type } = cells[i] as WideCell;
          const text = byColumn[i - from]?.[row] ?? null;
          parts.push(`${i === 0 ? '' : ','}${key}:${type ? cellJson(type, text) : (text ?? 'null')}`);
        }
        texts[row] += parts.join('');
        length += (texts[row] as string).length;
      }
      // What is still to come has its names at least.
      requireModest(length + restOf(to) * texts.length);
    };
    requireModest(restOf(0) * texts.length);
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
      for (let cell = cells[next + waiting.length]; cell && !cell.column; cell = cells[next + waiting.length])
        put(cell.isRowId ? idTexts : []);
    };
    putUnstored();
    await eachColumn(rows, stored, (values) => {
      put(values);
      putUnstored();
    });
    return new Map(rows.ids.map((id, row) => [id, `${texts[row]}}`]));
  });
  if (!written) return readInSlices(services, principal, at, columns, ids);
  return ids.flatMap((id) => (written.has(id) ? [{ id, json: written.get(id) as string }] : []));
}

interface WideCell {
  key: string;
  /** Null where nothing is stored: the row's id, or a masked column. */
  column: ColumnRecord | null;
  type: ColumnType | null;
  isRowId: boolean;
}

function describeCells(at: TableAt, columns: RelationColumn[]): { stored: ColumnRecord[]; cells: WideCell[] } {
  const byName = new Map(at.columns.map((column) => [column.name, column]));
  const cells = columns.map(({ name, masked }): WideCell => {
    const column = masked ? null : (byName.get(name) ?? null);
    return { key: JSON.stringify(name), column, type: column && parseColumnType(column.type), isRowId: name === rowIdColumn };
  });
  return { stored: cells.flatMap(({ column }) => column ?? []), cells };
}

/** By the engine, some columns at a time: for files that only it can read. */
async function readInSlices(
  services: Services,
  principal: Principal,
  at: TableAt,
  columns: RelationColumn[],
  ids: number[],
): Promise<PageRow[]> {
  const texts = new Map<number, string>();
  for (let first = 0; first < columns.length; first += mostAtOnce) {
    const part = columns.slice(first, first + mostAtOnce);
    const kept = keepNamed(
      at,
      part.map(({ name }) => name),
    );
    for (const { id, json } of await fetchRows(services, principal, kept, part, ids))
      texts.set(id, first === 0 ? json : `${texts.get(id)?.slice(0, -1)},${json.slice(1)}`);
    requireModest([...texts.values()].reduce((sum, text) => sum + text.length, 0));
  }
  return ids.flatMap((id) => (texts.has(id) ? [{ id, json: texts.get(id) as string }] : []));
}

/** The same rows as Arrow's stream. */
export async function streamWideRows(services: Services, at: TableAt, columns: RelationColumn[], ids: number[]): Promise<Readable> {
  const { stored, cells } = describeCells(at, columns);
  const body = await withStoredColumns(services, at, { ids }, async (rows) => {
    const placeOf = new Map(rows.ids.map((id, place) => [id, place]));
    const places = ids.flatMap((id) => placeOf.get(id) ?? []);
    const inOrder = (texts: (string | null)[]) => places.map((place) => texts[place] ?? null);
    const read = new Map<ColumnRecord, (string | null)[]>();
    await eachColumn(rows, stored, (texts, i) => {
      read.set(stored[i] as ColumnRecord, inOrder(texts));
    });
    const idTexts = inOrder(rows.ids.map(String));
    const nothing = inOrder([]);
    return writeArrow(
      columns.map(({ name, type }, i) => {
        const { column, isRowId } = cells[i] as WideCell;
        return { name, type, texts: (column && read.get(column)) ?? (isRowId ? idTexts : nothing) };
      }),
      places.length,
    );
  });
  if (body) return body;
  throw new DomainError(
    'query-too-large',
    `These rows cannot be given with ${columns.length} columns in this format.`,
    `Name up to ${mostAtOnce} columns at a time with \`columns\`, or ask for JSON.`,
  );
}
