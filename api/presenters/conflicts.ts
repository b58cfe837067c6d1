import type { MergeOutcome } from '../../activities/merge/commitMerge.ts';
import type { SeenConflict } from '../../activities/merge/seeConflicts.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { presentCell } from '../../core/cells/presentCell.ts';
import type { ColumnRecord } from '../../core/table/table.ts';
import type { components } from '../../schema/contract.ts';

type Merged = components['schemas']['MergeResponse'];

export function presentMerge(outcome: MergeOutcome): Merged {
  const { editVersion, opId, inserted, updated, deleted, conflicts, unchanged, planned } = outcome;
  return {
    edit_version: editVersion,
    op_id: opId,
    inserted,
    updated,
    deleted,
    conflicts,
    unchanged,
    ...(planned && {
      planned_changes: planned.changes.map(({ rowId, kind, cells }) => ({
        row_id: rowId,
        kind,
        cells: cells.map(({ column, before, after }) => ({ column: column.name, old: show(column, before), new: show(column, after) })),
      })),
      planned_conflicts: planned.conflicts.map(({ rowId, column, base, prior, current }) => ({
        row_id: rowId,
        column: column.name,
        base: show(column, base),
        prior: show(column, prior),
        current: show(column, current),
      })),
    }),
  };
}

const show = ({ type }: Pick<ColumnRecord, 'type'>, text: string | null) => presentCell(parseColumnType(type) as ColumnType, text);

export function presentConflict(conflict: SeenConflict): components['schemas']['CellConflict'] {
  const { column } = conflict;
  const see = (text: string | null) => (column.masked ? null : show(column, text));
  return {
    id: conflict.id,
    table: conflict.tableName,
    row_id: conflict.rowId,
    column: column.name,
    kind: conflict.kind,
    status: conflict.status,
    base: see(conflict.base),
    prior: see(conflict.prior),
    current: see(conflict.current),
    branch_id: conflict.branchId,
    created_at: conflict.createdAt.toISOString(),
    resolved_at: conflict.resolvedAt?.toISOString() ?? null,
    resolved_by: conflict.resolvedBy,
  };
}
