import type { Flows } from '../../core/lineage/flows.ts';
import { inheritTags } from '../../core/policy/inheritTags.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { listTagsOf, putTags, raisePolicyVersion, type TagRecord } from '../../store/pg/governance.ts';

export interface MadeFrom {
  inputId: string;
  flows: Flows | null;
}

export interface Tagged {
  id: string;
  workbookId: string;
  accountId: string;
}

/**
 * Runs inside the transaction that makes a table from others, after `holdTags`: its columns get the tags of those that flow into
 * them, as far as these count.
 */
export async function inheritFromInputs(
  tx: Tx,
  output: Tagged,
  columns: readonly number[],
  inputs: MadeFrom[],
  counts: (tag: TagRecord) => boolean = () => true,
): Promise<void> {
  const rows = await listTagsOf(tx.orm, [...inputs.map(({ inputId }) => inputId), output.id]);
  const placed = ({ tableId: table, columnId: column, tag }: TagRecord) => ({ table, column, tag });
  const edges = inputs.map(({ inputId: input, flows }) => ({ input, output: output.id, flows }));
  const given = rows.filter((row) => row.tableId !== output.id && row.origin !== 'removed' && counts(row)).map(placed);
  const inherited = inheritTags(edges, columns, given, rows.filter(({ tableId }) => tableId === output.id).map(placed));
  await addTags(
    tx,
    output,
    inherited.map(({ column, tag, from }) => ({
      columnId: column,
      tag,
      origin: 'inherited',
      fromTable: from.table,
      fromColumn: from.column,
    })),
  );
}

/** Adds tags that a table does not have. */
export async function addTags(
  tx: Tx,
  { id: tableId, workbookId, accountId }: Tagged,
  added: Pick<TagRecord, 'columnId' | 'tag' | 'origin' | 'fromTable' | 'fromColumn'>[],
): Promise<void> {
  if (added.length === 0) return;
  await putTags(
    tx,
    added.map((tag) => ({ ...tag, tableId, workbookId, accountId, actor: tx.actor.name, createdAt: tx.at })),
  );
  await raisePolicyVersion(tx, workbookId);
}
