import type { Principal } from '../../core/access/principal.ts';
import { nearestName } from '../../core/cells/nearestName.ts';
import { DomainError, describeFirst, type ProblemItem } from '../../core/errors.ts';
import { tableAnnotated, tableUnannotated } from '../../core/journal/tableNotes.ts';
import { decodeCursor, pageOf } from '../../core/paging.ts';
import type { ColumnRecord, TableAt } from '../../core/table/table.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { readAll, withRelation } from '../../store/duckdb/engine.ts';
import {
  type AnnotationKey,
  type AnnotationRecord,
  deleteAnnotations,
  listAnnotations,
  upsertAnnotations,
} from '../../store/pg/annotations.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { Services } from '../../store/services.ts';
import { visibleColumns } from '../rows/upsertRows.ts';
import { openUnmasked } from '../tables/openTable.ts';

/** A cell (both), a row, a column, or the table (neither). */
export interface Target {
  row_id?: number;
  column?: string;
}

export interface ShownAnnotation extends Pick<AnnotationRecord, 'style' | 'note' | 'actor' | 'updatedAt'> {
  target: Target;
}

/** Those of the table as the caller sees it now: not of denied or dropped columns, nor of rows that are gone. */
export async function listTableAnnotations(
  services: Services,
  principal: Principal,
  at: TableAt,
  page: { cursor?: string; limit: number },
): Promise<{ annotations: ShownAnnotation[]; nextCursor: string | null }> {
  const { visible } = await visibleColumns(services, principal, at);
  const key = decodeCursor(page.cursor, ['number', 'number']);
  const after = key && { rowId: key[0] as number, columnId: key[1] as number };
  const shownColumns = visible.map((column) => column.id);
  const { items, nextCursor } = await pageOf(
    page.limit,
    (limit) => listAnnotations(services.db.orm, at.table.id, { after, limit, shownColumns }),
    (record) => [record.rowId, record.columnId],
  );
  const there = await findRows(
    services,
    at,
    items.map((record) => record.rowId),
  );
  const shown = items.filter((record) => record.rowId === 0 || there.has(record.rowId));
  return { annotations: shown.map((record) => showAnnotation(record, visible)), nextCursor };
}

function showAnnotation(record: AnnotationRecord, visible: ColumnRecord[]): ShownAnnotation {
  const column = visible.find((each) => each.id === record.columnId);
  return {
    ...record,
    target: { ...(record.rowId === 0 ? {} : { row_id: record.rowId }), ...(column ? { column: column.name } : {}) },
  };
}

export interface PreparedAnnotations {
  at: TableAt;
  visible: ColumnRecord[];
  items: (AnnotationKey & Pick<AnnotationRecord, 'style' | 'note'>)[];
}

/** Targets by id. A row or column that is not there is refused, all of them at once. */
export async function prepareAnnotations(
  services: Services,
  principal: Principal,
  at: TableAt,
  wanted: { target: Target; style?: Record<string, unknown> | null; note?: string | null }[],
): Promise<PreparedAnnotations> {
  const { visible } = await visibleColumns(services, principal, at);
  const there = await findRows(
    services,
    at,
    wanted.flatMap(({ target }) => target.row_id ?? []),
  );
  const errors: ProblemItem[] = [];
  const seen = new Set<string>();
  const items = wanted.map(({ target, style, note }, i) => {
    const pointer = `/annotations/${i}/target`;
    const column = target.column === undefined ? null : findColumn(visible, target.column);
    if (column === undefined) errors.push({ pointer: `${pointer}/column`, detail: unknownColumn(visible, target.column ?? '') });
    if (target.row_id !== undefined && !there.has(target.row_id))
      errors.push({ pointer: `${pointer}/row_id`, detail: 'names no row of this table' });
    const key = { rowId: target.row_id ?? 0, columnId: column?.id ?? 0 };
    const name = `${key.rowId} ${key.columnId}`;
    if (column !== undefined && seen.has(name)) errors.push({ pointer, detail: 'stands in this request already' });
    seen.add(name);
    return { ...key, style: style ?? null, note: note ?? null };
  });
  if (errors.length > 0)
    throw new DomainError('validation-failed', describeFirst(errors), 'Correct what `errors` lists.', {
      errors: errors.slice(0, 100),
    });
  return { at, visible, items };
}

/** They are no content: no version, no op, but the audit log says who annotated what. */
export async function setAnnotations(tx: Tx, { at, visible, items }: PreparedAnnotations): Promise<ShownAnnotation[]> {
  const stored = await upsertAnnotations(tx, at.table.id, items);
  tx.note(at.table.workbookId, tableAnnotated(at.table, items.length));
  const byKey = new Map(stored.map((record) => [`${record.rowId} ${record.columnId}`, record]));
  return items.flatMap((item) => {
    const record = byKey.get(`${item.rowId} ${item.columnId}`);
    return record ? [showAnnotation(record, visible)] : [];
  });
}

/** Targets that name nothing the caller sees have no annotation: they are passed over. */
export async function removeAnnotations(tx: Tx, at: TableAt, visible: ColumnRecord[], targets: Target[]): Promise<number> {
  const keys = targets.flatMap((target) => {
    const column = target.column === undefined ? null : findColumn(visible, target.column);
    return column === undefined ? [] : [{ rowId: target.row_id ?? 0, columnId: column?.id ?? 0 }];
  });
  const deleted = keys.length === 0 ? 0 : await deleteAnnotations(tx, at.table.id, keys);
  tx.note(at.table.workbookId, tableUnannotated(at.table, deleted));
  return deleted;
}

function findColumn(visible: ColumnRecord[], name: string): ColumnRecord | undefined {
  return visible.find((column) => column.name.toLowerCase() === name.toLowerCase());
}

function unknownColumn(visible: ColumnRecord[], name: string): string {
  const near = nearestName(
    name,
    visible.map((column) => column.name),
  );
  return near ? `is not a column; did you mean ${near}?` : 'is not a column of this table';
}

/** Which of some rows are there: by their ids alone. */
async function findRows(services: Services, at: TableAt, rowIds: number[]): Promise<Set<number>> {
  const ids = [...new Set(rowIds)].filter((id) => id > 0 && id < at.table.nextRowId);
  if (ids.length === 0) return new Set();
  const relation = await openUnmasked(services, { ...at, columns: [] }, { ids });
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const rows = await readAll(connection, `SELECT CAST(${rowIdColumn} AS DOUBLE) FROM ${from}`);
    return new Set(rows.map(([id]) => id as number));
  });
}
