import { DomainError, notFound } from '../../core/errors.ts';
import { columnTagged, columnUntagged } from '../../core/journal/governanceNotes.ts';
import { findNameFault } from '../../core/table/nameFaults.ts';
import type { ColumnRecord, TableAt } from '../../core/table/table.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { listTagsOf, putTags, raisePolicyVersion, removeTag } from '../../store/pg/governance.ts';

export interface TaggedColumn {
  /** All tags of the column. */
  tags: string[];
  /** Other columns that the tag flowed to. */
  reached: { table: string; column: string }[];
}

/** Refuses what nobody could see or send again. */
export function requireTag(tag: string, pointer: string): string {
  const why = findNameFault(tag);
  if (why === null) return tag;
  throw new DomainError('validation-failed', `${pointer}: ${why}.`, 'Send another tag.', { errors: [{ pointer, detail: why }] });
}

/** Attaches a tag to a column. Attaching it again changes nothing. */
export async function tagColumn(tx: Tx, { table }: TableAt, column: ColumnRecord, tag: string): Promise<TaggedColumn> {
  const { workbookId, accountId } = table;
  await raisePolicyVersion(tx, workbookId);
  const held = (await listTagsOf(tx.orm, [table.id])).filter(({ columnId, origin }) => columnId === column.id && origin !== 'removed');
  const known = held.find((each) => each.tag === tag);
  if (known?.origin !== 'direct') {
    const row = { tableId: table.id, workbookId, accountId, columnId: column.id, tag, origin: 'direct' as const };
    await putTags(tx, [{ ...row, actor: tx.actor.name, createdAt: tx.at }]);
    tx.note(workbookId, columnTagged(table, column.id, tag, 0));
  }
  return { tags: [...new Set([...held.map((each) => each.tag), tag])].sort(), reached: [] };
}

/** Takes a tag off a column, and remembers that. Other columns keep it. */
export async function untagColumn(tx: Tx, { table }: TableAt, column: ColumnRecord, tag: string): Promise<void> {
  await raisePolicyVersion(tx, table.workbookId);
  if (!(await removeTag(tx, table.id, [column.id], tag)))
    throw notFound('such tag on this column', 'GET …/classifications lists the tags of all columns.');
  tx.note(table.workbookId, columnUntagged(table, column.id, tag));
}
