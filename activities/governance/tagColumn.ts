import { DomainError, notFound } from '../../core/errors.ts';
import { columnTagged, columnUntagged } from '../../core/journal/governanceNotes.ts';
import { spreadTag } from '../../core/policy/spreadTag.ts';
import type { ColumnPlace } from '../../core/policy/tagFlows.ts';
import { findNameFault } from '../../core/table/nameFaults.ts';
import type { ColumnRecord, TableRecord } from '../../core/table/table.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { listTagsOf, putTags, raisePolicyVersion, removeTag } from '../../store/pg/governance.ts';
import { findCurrentTableById } from '../../store/pg/tables.ts';
import { requireVisibleColumn } from '../columns/openColumn.ts';
import { type OpenTagGraph, openTagGraph } from './tagGraph.ts';

export interface TaggedColumn {
  column: string;
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

/** Attaches a tag to a column and to those that its values flow to. Attaching it again changes nothing. */
export async function tagColumn(tx: Tx, { id, workbookId, accountId }: TableRecord, name: string, tag: string): Promise<TaggedColumn> {
  const { table, column, graph } = await openColumn(tx, id, workbookId, name);
  const held = new Map((await listTagsOf(tx.orm, graph.tableIds)).map((row) => [keyOf(row, row.tag), row]));
  const stateOf = (place: ColumnPlace) => held.get(keyOf({ tableId: place.table, columnId: place.column }, tag))?.origin ?? null;
  const row = { workbookId, accountId, tag, actor: tx.actor.name, createdAt: tx.at };
  const own = listIds(graph, id, column.id).filter((columnId) => stateOf({ table: id, column: columnId }) !== 'direct');
  const isOwn = new Set(listIds(graph, id, column.id).map((columnId) => keyOf({ tableId: id, columnId }, tag)));
  const wasRemoved = (place: ColumnPlace) =>
    stateOf(place) === 'removed' && !isOwn.has(keyOf({ tableId: place.table, columnId: place.column }, tag));
  const reached = spreadTag({ table: id, column: column.id }, graph, wasRemoved).filter(
    (place) => !isOwn.has(keyOf({ tableId: place.table, columnId: place.column }, tag)),
  );
  const added = reached.filter((place) => stateOf(place) === null);
  await putTags(tx, [
    ...own.map((columnId) => ({ ...row, tableId: id, columnId, origin: 'direct' as const })),
    ...added.map(({ table: tableId, column: columnId, from }) => ({
      ...row,
      tableId,
      columnId,
      origin: 'inherited' as const,
      fromTable: from.table,
      fromColumn: from.column,
    })),
  ]);
  if (own.length + added.length > 0) tx.note(workbookId, columnTagged(table, column.id, tag, added.length));
  const tags = [...held.values()].filter((each) => each.tableId === id && each.columnId === column.id && each.origin !== 'removed');
  return {
    column: column.name,
    tags: [...new Set([...tags.map((each) => each.tag), tag])].sort(),
    reached: reached.flatMap((place) => graph.nameOf(place) ?? []),
  };
}

/** Takes a tag off a column, and remembers that. Other columns keep it. */
export async function untagColumn(tx: Tx, { id, workbookId }: TableRecord, name: string, tag: string): Promise<void> {
  const { table, column, graph } = await openColumn(tx, id, workbookId, name);
  if (!(await removeTag(tx, id, listIds(graph, id, column.id), tag)))
    throw notFound('such tag on this column', 'GET …/classifications lists the tags of all columns.');
  tx.note(workbookId, columnUntagged(table, column.id, tag));
}

/** The column as it is now; no tag changes until the transaction ends. */
async function openColumn(
  tx: Tx,
  tableId: string,
  workbookId: string,
  name: string,
): Promise<{ table: TableRecord; column: ColumnRecord; graph: OpenTagGraph }> {
  await raisePolicyVersion(tx, workbookId);
  const at = await findCurrentTableById(tx.client, tableId);
  if (!at) throw notFound('table in this workbook');
  const column = requireVisibleColumn(at.columns, name);
  return { table: at.table, column, graph: await openTagGraph(tx, workbookId, tableId) };
}

const keyOf = ({ tableId, columnId }: { tableId: string; columnId: number }, tag: string) => `${tableId} ${columnId} ${tag}`;

/** The ids under which a column stands in the versions of its table. */
function listIds(graph: OpenTagGraph, table: string, column: number): number[] {
  const ids = new Set([column]);
  for (const id of ids) for (const same of graph.sameColumn({ table, column: id })) ids.add(same);
  return [...ids];
}
