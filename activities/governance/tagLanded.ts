import { nameColumn } from '../../core/a1/address.ts';
import { DomainError } from '../../core/errors.ts';
import { unreviewed } from '../../core/policy/decideEffect.ts';
import { reverseFlows } from '../../core/policy/tagFlows.ts';
import type { ColumnRecord, TableAt } from '../../core/table/table.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { listTagsOf, type TagRecord } from '../../store/pg/governance.ts';
import type { SourceRecord } from '../../store/pg/sources.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import type { WrittenTable } from '../ingest/landTables.ts';
import { addTags, inheritFromInputs } from './inheritTags.ts';

/*
 * Tags of tables that come from files. All of it runs inside the transaction that lands the tables, behind the landing and
 * after `holdTags`.
 */

type RawBySheet = ReadonlyMap<string, string>;

/** Tables structured for the first time get the tags of the raw columns whose cells they hold. */
export async function tagStructured(tx: Tx, source: SourceRecord, tables: WrittenTable[], rawBySheet: RawBySheet): Promise<void> {
  if (!(await listTagsOf(tx.orm, [...rawBySheet.values()])).some(isThere)) return;
  for (const { tableId, sheet, columns, flows } of tables) {
    const inputId = rawBySheet.get(sheet);
    if (!inputId || inputId === tableId) continue;
    const columnIds = columns.map(({ id }) => id);
    await inheritFromInputs(tx, { ...source, id: tableId }, columnIds, [{ inputId, flows: flows ?? null }]);
  }
}

/** Tables made from a file without raw ones: nobody can tell their columns from those that are tagged. */
export async function tagMaterialized(tx: Tx, source: SourceRecord, tables: WrittenTable[], earlierIds: string[]): Promise<void> {
  if (!(await listTagsOf(tx.orm, earlierIds)).some(isThere)) return;
  for (const { tableId, columns } of tables)
    await addTags(
      tx,
      { ...source, id: tableId },
      columns.map(({ id }) => asUnreviewed(id)),
    );
}

/** Appended rows would lose the tags that the source has. */
export async function refuseTagged(tx: Tx, madeIds: string[]): Promise<void> {
  if (!(await listTagsOf(tx.orm, madeIds)).some(isThere)) return;
  throw new DomainError(
    'in-use',
    'Columns of this source are tagged, and rows that are appended elsewhere would lose the tags.',
    'Materialize it into new tables, and derive what you need from them.',
  );
}

/**
 * Tables that were made from a file get their next version from new bytes, and others are added. Columns keep their tags by name;
 * what was not there before is not shown until somebody has looked at it.
 */
export async function tagRevised(
  tx: Tx,
  source: SourceRecord,
  { raw, structured }: { raw: WrittenTable[]; structured: WrittenTable[] },
  before: ReadonlyMap<string, TableAt>,
): Promise<void> {
  const made = [...raw, ...structured];
  const ids = [...new Set([...before.keys(), ...made.map(({ tableId }) => tableId)])];
  const tags = (await listTagsOf(tx.orm, ids)).filter(isThere);
  if (tags.length === 0) return;
  const now = new Map((await listTablesById(tx.client, ids)).map((at) => [at.table.id, at.columns]));
  const rawBySheet = new Map(raw.map(({ sheet, tableId }) => [sheet, tableId]));
  const understood = new Set(structured.map(({ sheet }) => sheet));
  for (const { tableId, sheet, role, columns: landed } of made) {
    const columns = now.get(tableId) ?? [];
    const tagged = new Set(tags.filter((tag) => tag.tableId === tableId).map(({ columnId }) => columnId));
    const table = { ...source, id: tableId };
    if (role === 'raw' && landed.every(({ name }, i) => name === nameColumn(i + 1))) {
      // Letters say nothing of what a column holds. Where the sheet is structured, tags come back from there.
      const unknown = understood.has(sheet) || tagged.size === 0 ? [] : columns.filter(({ id }) => !tagged.has(id));
      await addTags(
        tx,
        table,
        unknown.map(({ id }) => asUnreviewed(id)),
      );
      continue;
    }
    const matched = (column: ColumnRecord) => before.get(tableId)?.columns.some((each) => isSame(each, column)) ?? false;
    const isClosed = tagged.size > 0 || !before.has(tableId);
    const added = columns.filter((column) => !matched(column));
    await addTags(tx, table, isClosed ? added.map(({ id }) => asUnreviewed(id)) : []);
  }
  for (const { tableId, sheet, columns, flows } of structured) {
    const inputId = rawBySheet.get(sheet);
    if (!inputId || inputId === tableId) continue;
    const columnIds = columns.map(({ id }) => id);
    const back = flows ? reverseFlows(flows, columnIds) : null;
    const rawIds = (now.get(inputId) ?? []).map(({ id }) => id);
    // What came back to a raw column was about the cells that it held then.
    await inheritFromInputs(
      tx,
      { ...source, id: tableId },
      columnIds,
      [{ inputId, flows: flows ?? null }],
      ({ origin }) => origin === 'direct',
    );
    await inheritFromInputs(tx, { ...source, id: inputId }, rawIds, [{ inputId: tableId, flows: back }]);
  }
}

const isThere = ({ origin }: TagRecord) => origin !== 'removed';
const isSame = (a: ColumnRecord, b: ColumnRecord) => a.id === b.id || a.name.toLowerCase() === b.name.toLowerCase();
const asUnreviewed = (columnId: number) => ({ columnId, tag: unreviewed, origin: 'direct' as const, fromTable: null, fromColumn: null });
