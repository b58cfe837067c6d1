import type { MergeOutcome } from '../../activities/merge/commitMerge.ts';
import type { SeenConflict } from '../../activities/merge/seeConflicts.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { presentCell } from '../../core/cells/presentCell.ts';
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
      planned_conflicts: planned.map(({ rowId, column, base, prior, current }) => {
        const show = (text: string | null) => presentCell(parseColumnType(column.type) as ColumnType, text);
        return { row_id: rowId, column: column.name, base: show(base), prior: show(prior), current: show(current) };
      }),
    }),
  };
}

export function presentConflict(conflict: SeenConflict): components['schemas']['CellConflict'] {
  const { column } = conflict;
  const show = (text: string | null) => (column.masked ? null : presentCell(parseColumnType(column.type) as ColumnType, text));
  return {
    id: conflict.id,
    table: conflict.tableName,
    row_id: conflict.rowId,
    column: column.name,
    kind: conflict.kind,
    status: conflict.status,
    base: show(conflict.base),
    prior: show(conflict.prior),
    current: show(conflict.current),
    branch_id: conflict.branchId,
    created_at: conflict.createdAt.toISOString(),
    resolved_at: conflict.resolvedAt?.toISOString() ?? null,
    resolved_by: conflict.resolvedBy,
  };
}
