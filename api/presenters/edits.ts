import type { BreakingChange } from '../../activities/columns/openColumn.ts';
import { numberRows, type PreparedEdit } from '../../core/table/edit.ts';
import type { EditOutcome } from '../../core/table/editOutcome.ts';
import type { components } from '../../schema/contract.ts';

type Schemas = components['schemas'];

/** Common to the answers of all edits. */
export function presentOutcome({ editVersion, opId, stale }: EditOutcome) {
  return { edit_version: editVersion, op_id: opId, stale };
}

export function presentUpsert({ plan, rowIds }: PreparedEdit, outcome: EditOutcome): Schemas['UpsertRowsResult'] {
  return {
    ...presentOutcome(outcome),
    inserted: plan.inserted,
    updated: plan.updated,
    row_ids: outcome.firstRowId === null ? rowIds : numberRows(rowIds, outcome.firstRowId),
  };
}

export function presentDelete({ plan }: PreparedEdit, outcome: EditOutcome): Schemas['DeleteRowsResult'] {
  return { ...presentOutcome(outcome), deleted: plan.deleted };
}

export function presentColumnChange({ at, column, type, broken }: BreakingChange, outcome: EditOutcome): Schemas['ColumnChange'] {
  return { name: at.table.name, column, type, ...presentOutcome(outcome), broken };
}
