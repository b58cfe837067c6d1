import { castValue, sameValue } from '../../core/cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { nearestName } from '../../core/cells/nearestName.ts';
import { DomainError, type ProblemItem } from '../../core/errors.ts';
import { rowIdColumn } from '../../store/duckdb/buildRelation.ts';
import type { ColumnRecord, LogEntry, TableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import type { TouchedCells } from './checkVersion.ts';
import { type Cells, readStoredRows } from './readStoredRows.ts';

const mostErrors = 100;

export interface CastRow {
  /** Null: a new row. */
  rowId: number | null;
  cells: Cells;
}

/** A column by the name that the caller uses; the engine folds case, so does this. */
export function columnFinder(columns: ColumnRecord[]): (name: string) => (ColumnRecord & { parsed: ColumnType }) | null {
  const byName = new Map(
    columns.map((column) => [column.name.toLowerCase(), { ...column, parsed: parseColumnType(column.type) as ColumnType }]),
  );
  return (name) => byName.get(name.toLowerCase()) ?? null;
}

/** Rows of a request as canonical text by column id. Everything that is wrong is said, each with a pointer to its cell. */
export function castRows(visible: ColumnRecord[], masked: Set<number>, rows: Record<string, unknown>[]): CastRow[] {
  const find = columnFinder(visible);
  const names = visible.map((column) => column.name);
  const errors: ProblemItem[] = [];
  const seen = new Set<number>();
  const cast = rows.map((row, i): CastRow => {
    const cells: Cells = {};
    let rowId: number | null = null;
    for (const [name, value] of Object.entries(row)) {
      const pointer = `/rows/${i}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const fail = (detail: string) => {
        if (errors.length < mostErrors) errors.push({ pointer, detail });
      };
      if (name === rowIdColumn) {
        if (value === null) continue;
        if (!Number.isSafeInteger(value) || (value as number) < 1) fail('must be a positive whole number');
        else if (seen.has(value as number)) fail('names a row that stands in this request already');
        else {
          rowId = value as number;
          seen.add(rowId);
        }
        continue;
      }
      const column = find(name);
      if (!column) {
        const near = nearestName(name, names);
        fail(near ? `is not a column; did you mean ${near}?` : 'is not a column of this table');
        continue;
      }
      if (masked.has(column.id)) {
        throw new DomainError(
          'insufficient-role',
          `The column ${column.name} is masked for you and cannot be written.`,
          'Leave it out, or ask for a role that may see it.',
        );
      }
      const result = castValue(column.parsed, value);
      if (result.ok) cells[column.id] = result.text;
      else fail(result.why);
    }
    return { rowId, cells };
  });
  if (errors.length === 0) return cast;
  throw new DomainError(
    'validation-failed',
    `${errors[0]?.pointer}: ${errors[0]?.detail}${errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''}.`,
    'Correct the cells that `errors` lists; nothing was changed.',
    { errors },
  );
}

export function touchedCells(rows: CastRow[]): TouchedCells {
  return new Map(rows.flatMap((row) => (row.rowId === null ? [] : [[row.rowId, Object.keys(row.cells).map(Number)] as const])));
}

export interface UpsertEntries {
  entries: LogEntry[];
  inserted: number;
  updated: number;
  /** In the order of the request: the id, or which new row it is. */
  rowIds: number[];
}

/** The log entries of an upsert on top of a version: whole rows after the change, and what changed. */
export async function planUpsert(services: Services, at: TableAt, rows: CastRow[]): Promise<UpsertEntries> {
  const stored = await readStoredRows(
    services,
    at,
    rows.flatMap((row) => row.rowId ?? []),
  );
  const types = new Map(at.columns.map((column) => [column.id, parseColumnType(column.type) as ColumnType]));
  const missing: ProblemItem[] = [];
  const entries: LogEntry[] = [];
  let inserted = 0;
  const rowIds = rows.map((row, i) => {
    if (row.rowId === null) {
      inserted += 1;
      entries.push({
        rowId: -inserted,
        op: 'I',
        changed: Object.keys(row.cells).map(Number),
        cells: Object.fromEntries(at.columns.map((column) => [column.id, row.cells[column.id] ?? null])),
        before: null,
      });
      return -inserted;
    }
    const old = stored.get(row.rowId);
    if (!old) {
      missing.push({ pointer: `/rows/${i}/${rowIdColumn}`, detail: 'names no row of this table' });
      return row.rowId;
    }
    const changed = Object.keys(row.cells)
      .map(Number)
      .filter((id) => !sameValue(types.get(id) as ColumnType, old[id] ?? null, row.cells[id] ?? null));
    entries.push({
      rowId: row.rowId,
      op: 'U',
      changed,
      cells: { ...old, ...row.cells },
      before: Object.fromEntries(changed.map((id) => [id, old[id] ?? null])),
    });
    return row.rowId;
  });
  if (missing.length > 0)
    throw new DomainError(
      'validation-failed',
      'Some rows do not exist.',
      'Leave __svc_row_id out to insert; read the rows again to get their ids.',
      { errors: missing.slice(0, mostErrors) },
    );
  return { entries, inserted, updated: entries.length - inserted, rowIds };
}
