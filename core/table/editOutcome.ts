import { numberRows } from './edit.ts';

/** What an edit gives that is known only when it is made. */
export interface EditOutcome {
  editVersion: number;
  opId: number;
  /** The first id given to new rows. Null: not known yet. */
  firstRowId: number | null;
  /** Names of derived tables that are now outdated. */
  stale: string[];
}

/** Stands for the outcome in an answer that is written before its edit. */
export function foreseeOutcome(readVersion: number): EditOutcome {
  return { editVersion: readVersion + 1, opId: 0, firstRowId: null, stale: [] };
}

/** The fields of an edit's answer that depend on its outcome. */
interface EditAnswer {
  edit_version: number;
  op_id: number;
  stale: string[];
  /** New rows are negative until their ids are known. */
  row_ids?: number[];
}

/** Completes an answer that was written with a foreseen outcome. The fields keep their places. */
export function completeAnswer<Answer extends EditAnswer>(answer: Answer, { editVersion, opId, firstRowId, stale }: EditOutcome): Answer {
  const { row_ids: rowIds } = answer;
  return {
    ...answer,
    edit_version: editVersion,
    op_id: opId,
    stale,
    ...(rowIds && firstRowId !== null ? { row_ids: numberRows(rowIds, firstRowId) } : {}),
  };
}
