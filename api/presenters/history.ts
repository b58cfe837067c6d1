import type { HistoryChange } from '../../activities/rows/rowHistory.ts';
import type { Page } from '../../core/paging.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { ChangedCell, TableDiff } from '../../store/tables/tableDiff.ts';
import { writeObject } from './writeObject.ts';

const listJson = (rows: { json: string }[]) => rows.map(({ json }) => json);

function writeCells(cells: ChangedCell[]): string[] {
  return cells.map(({ column, oldJson, newJson }) => `{"column":${JSON.stringify(column)},"old":${oldJson},"new":${newJson}}`);
}

export function writeRowHistory(name: string, rowId: number, { items, nextCursor }: Page<HistoryChange>): string {
  const texts = items.map(({ op, editVersion, kind, cells }) => {
    const fields = {
      op_id: op.opId,
      edit_version: editVersion,
      kind,
      actor: op.actor,
      user_id: op.userId,
      at: op.createdAt.toISOString(),
    };
    return writeObject(fields, { cells: writeCells(cells) });
  });
  return writeObject({ name, row_id: rowId, next_cursor: nextCursor }, { changes: texts });
}

export function writeDiff(
  from: TableAt,
  to: TableAt,
  name: string,
  { inserted, updated, deleted, counts }: TableDiff,
  limit: number,
): string {
  const fields = {
    name,
    from: from.editVersion,
    to: to.editVersion,
    inserted_count: counts.inserted,
    updated_count: counts.updated,
    deleted_count: counts.deleted,
    truncated: Math.max(counts.inserted, counts.updated, counts.deleted) > limit,
  };
  return writeObject(fields, {
    inserted: listJson(inserted),
    updated: updated.map(({ rowId, cells }) => writeObject({ row_id: rowId }, { cells: writeCells(cells) })),
    deleted: listJson(deleted),
  });
}
