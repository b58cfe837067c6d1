import { DomainError, describeFirst, type ProblemItem } from '../../core/errors.ts';
import { tableAnnotated, tableUnannotated } from '../../core/journal/tableNotes.ts';
import { decodeCursor, pageOf } from '../../core/paging.ts';
import { describeUnknownColumn, findColumn } from '../../core/table/findColumn.ts';
import type { VisibleColumn, VisibleTable } from '../../core/table/visibleTable.ts';
import {
  type AnnotationKey,
  type AnnotationRecord,
  deleteAnnotations,
  listAnnotations,
  upsertAnnotations,
} from '../../store/pg/annotations.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { Services } from '../../store/services.ts';
import { findExistingRows } from '../../store/tables/findRowIds.ts';

/** Row and column: a cell. Only one: a row or a column. None: the table. */
export interface Target {
  row_id?: number;
  column?: string;
}

export interface ShownAnnotation extends Pick<AnnotationRecord, 'style' | 'note' | 'actor' | 'updatedAt'> {
  target: Target;
}

/** Annotations of what the caller can see now: none of denied or dropped columns or deleted rows. */
export async function listTableAnnotations(
  services: Services,
  { at, columns }: VisibleTable,
  page: { cursor?: string; limit: number },
): Promise<{ annotations: ShownAnnotation[]; nextCursor: string | null }> {
  const key = decodeCursor(page.cursor, ['number', 'number']);
  const after = key && { rowId: key[0] as number, columnId: key[1] as number };
  const shownColumns = columns.map((column) => column.id);
  const { items, nextCursor } = await pageOf(
    page.limit,
    (limit) => listAnnotations(services.db.orm, at.table.id, { after, limit, shownColumns }),
    (record) => [record.rowId, record.columnId],
  );
  const there = await findExistingRows(
    services,
    at,
    items.map((record) => record.rowId),
  );
  const shown = items.filter((record) => record.rowId === 0 || there.has(record.rowId));
  return { annotations: shown.map((record) => showAnnotation(record, columns)), nextCursor };
}

/** A note on a masked column may say what is in it. */
function showAnnotation(record: AnnotationRecord, columns: VisibleColumn[]): ShownAnnotation {
  const column = columns.find((each) => each.id === record.columnId);
  return {
    ...record,
    note: column?.masked ? null : record.note,
    target: { ...(record.rowId === 0 ? {} : { row_id: record.rowId }), ...(column ? { column: column.name } : {}) },
  };
}

export interface PreparedAnnotations {
  visible: VisibleTable;
  items: (AnnotationKey & Pick<AnnotationRecord, 'style' | 'note'>)[];
}

/** Finds the ids of the targets. All unknown rows and columns are refused together. */
export async function prepareAnnotations(
  services: Services,
  visible: VisibleTable,
  wanted: { target: Target; style?: Record<string, unknown> | null; note?: string | null }[],
): Promise<PreparedAnnotations> {
  const { at, columns } = visible;
  const there = await findExistingRows(
    services,
    at,
    wanted.flatMap(({ target }) => target.row_id ?? []),
  );
  const errors: ProblemItem[] = [];
  const seen = new Set<string>();
  const items = wanted.map(({ target, style, note }, i) => {
    const pointer = `/annotations/${i}/target`;
    const column = target.column === undefined ? undefined : findColumn(columns, target.column);
    if (column === null) errors.push({ pointer: `${pointer}/column`, detail: describeUnknownColumn(columns, target.column ?? '') });
    if (target.row_id !== undefined && !there.has(target.row_id))
      errors.push({ pointer: `${pointer}/row_id`, detail: 'names no row of this table' });
    const key = { rowId: target.row_id ?? 0, columnId: column?.id ?? 0 };
    const name = `${key.rowId} ${key.columnId}`;
    if (column !== null && seen.has(name)) errors.push({ pointer, detail: 'stands in this request already' });
    seen.add(name);
    return { ...key, style: style ?? null, note: note ?? null };
  });
  if (errors.length > 0)
    throw new DomainError('validation-failed', describeFirst(errors), 'Correct what `errors` lists.', {
      errors: errors.slice(0, 100),
    });
  return { visible, items };
}

/** Annotations are not content: they make no version and no op, only an audit entry. */
export async function setAnnotations(tx: Tx, { visible: { at, columns }, items }: PreparedAnnotations): Promise<ShownAnnotation[]> {
  const stored = await upsertAnnotations(tx, at.table.id, items);
  tx.note(at.table.workbookId, tableAnnotated(at.table, items.length));
  const byKey = new Map(stored.map((record) => [`${record.rowId} ${record.columnId}`, record]));
  return items.flatMap((item) => {
    const record = byKey.get(`${item.rowId} ${item.columnId}`);
    return record ? [showAnnotation(record, columns)] : [];
  });
}

/** Skips targets that the caller cannot see. */
export async function removeAnnotations(tx: Tx, { at, columns }: VisibleTable, targets: Target[]): Promise<number> {
  const keys = targets.flatMap((target) => {
    const column = target.column === undefined ? undefined : findColumn(columns, target.column);
    return column === null ? [] : [{ rowId: target.row_id ?? 0, columnId: column?.id ?? 0 }];
  });
  const deleted = keys.length === 0 ? 0 : await deleteAnnotations(tx, at.table.id, keys);
  tx.note(at.table.workbookId, tableUnannotated(at.table, deleted));
  return deleted;
}
