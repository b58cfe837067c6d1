import type { components } from '../../schema/contract.ts';
import type { OpRecord } from '../../store/pg/ops.ts';
import { presentCredential } from './journal.ts';

export function presentOp(op: OpRecord): components['schemas']['Op'] {
  return {
    op_id: op.opId,
    kind: op.kind,
    table: op.tableName,
    edit_version: op.editVersion,
    actor: op.actor,
    user_id: op.userId,
    credential: presentCredential(op.credential),
    code_ref: op.codeRef,
    undoable: op.undoable && op.undoneBy === null,
    undone_by: op.undoneBy,
    created_at: op.createdAt.toISOString(),
  };
}
