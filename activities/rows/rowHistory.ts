import { sameValue } from '../../core/cells/castValue.ts';
import { cellJson } from '../../core/cells/cellJson.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { notFound } from '../../core/errors.ts';
import { cutPage, decodeCursor, encodeCursor, type Page } from '../../core/paging.ts';
import type { LogRow } from '../../core/table/log.ts';
import { pairColumns } from '../../core/table/pairColumns.ts';
import type { Cells, TableVersion } from '../../core/table/table.ts';
import type { VisibleColumn, VisibleTable } from '../../core/table/visibleTable.ts';
import { findVersionOps, type OpRecord } from '../../store/pg/ops.ts';
import { findTableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { hasRow } from '../../store/tables/findRowIds.ts';
import { readStoredRows } from '../../store/tables/readStoredRows.ts';
import type { ChangedCell } from '../../store/tables/tableDiff.ts';
import { takeWorkMemory } from '../../store/workMemory.ts';
import { findUnloggedVersions, readLog } from './readLog.ts';

export interface HistoryChange {
  op: OpRecord;
  editVersion: number;
  kind: 'insert' | 'update' | 'delete';
  cells: ChangedCell[];
}

const kinds = { I: 'insert', U: 'update', D: 'delete' } as const;

/** Changes are whole rows, so they are read a few at a time, then as many as may still fit. */
const firstChanges = 2;
const mostBytes = 8 * 1024 * 1024;
/** What making a page takes. */
const workBytes = 6 * mostBytes;

/** Every change of a row, newest first. Includes columns that were dropped since. */
export async function readRowHistory(
  services: Services,
  { at, columns }: VisibleTable,
  rowId: number,
  page: { cursor?: string; limit: number },
): Promise<Page<HistoryChange>> {
  const key = decodeCursor(page.cursor, ['number']);
  const found: HistoryChange[] = [];
  let before = key === null ? null : (key[0] as number);
  let bytes = 0;
  let count = firstChanges;
  await takeWorkMemory(workBytes);
  while (found.length <= page.limit && bytes <= mostBytes && before !== 1) {
    const part = await listChanges(services, { at, columns }, rowId, before, Math.min(count, page.limit + 1 - found.length));
    found.push(...part.changes);
    for (const { cells } of part.changes) for (const { oldJson, newJson } of cells) bytes += oldJson.length + newJson.length;
    before = part.readTo;
    const fitting = Math.floor(((mostBytes - bytes) * found.length) / Math.max(1, bytes));
    count = Math.max(1, Math.min(4 * count, fitting));
  }
  // A page of long changes ends before its limit.
  const isCut = found.length <= page.limit && before !== 1;
  return isCut
    ? { items: found, nextCursor: encodeCursor([before as number]) }
    : cutPage(found, page.limit, (change) => [change.editVersion]);
}

/** Up to `count` changes before a version; `readTo` is the last version that was looked at, 1 if there is none before. */
async function listChanges(
  services: Services,
  { at, columns }: Pick<VisibleTable, 'at' | 'columns'>,
  rowId: number,
  before: number | null,
  count: number,
): Promise<{ changes: HistoryChange[]; readTo: number }> {
  const upTo = before === null ? at.editVersion : Math.min(at.editVersion, before - 1);
  const [logged, unlogged] = await Promise.all([
    readLog(services, at.table.id, { after: 0, upTo, rowIds: [rowId], newestFirst: true, limit: count }),
    findUnloggedVersions(services, at.table.id, 0, upTo),
  ]);
  if (before === null && logged.length === 0) await requireKnownRow(services, at, rowId);
  const opsByVersion = await findVersionOps(
    services.db.orm,
    at.table.id,
    logged.map((entry) => entry.editVersion),
  );
  const byVersion = new Map(logged.map((entry) => [entry.editVersion, entry]));
  const others = new Map(unlogged.ops.map((op) => [op.editVersion ?? 0, op]));
  const oldest = logged.length >= count ? (logged.at(-1)?.editVersion ?? 0) : 0;
  const versions = [...new Set([...byVersion.keys(), ...others.keys()])].filter((version) => version >= oldest).sort((a, b) => b - a);

  const changes: HistoryChange[] = [];
  for (const version of versions) {
    if (changes.length >= count) return { changes, readTo: changes.at(-1)?.editVersion ?? 1 };
    const op = opsByVersion.get(version) ?? others.get(version);
    const entry = byVersion.get(version) ?? (await compareRow(services, at, version, rowId));
    if (!entry || !op) continue;
    const cells = presentCells(entry, columns);
    // A change of hidden columns only is left out, as listing it would reveal it.
    if (entry.op === 'U' && cells.length === 0) continue;
    changes.push({ op, editVersion: version, kind: kinds[entry.op], cells });
  }
  return { changes, readTo: Math.max(1, oldest) };
}

async function requireKnownRow(services: Services, at: TableVersion, rowId: number): Promise<void> {
  const known = rowId < at.table.nextRowId && (await wasEverThere(services, at, rowId));
  if (!known) throw notFound('row in this table', 'Read the rows to get their ids.');
}

async function wasEverThere(services: Services, at: TableVersion, rowId: number): Promise<boolean> {
  if (await hasRow(services, at, rowId)) return true;
  const first = await findTableAt(services.db.pool, at.table, 1);
  return first !== null && hasRow(services, first, rowId);
}

/** A log entry made by comparison, with the types of old values where they differ. */
interface ComparedRow extends LogRow {
  typesBefore?: Map<number, string>;
}

/** Makes a log entry for a version without log entries, by comparing the row before and after. */
async function compareRow(services: Services, at: TableVersion, version: number, rowId: number): Promise<ComparedRow | null> {
  const [after, before] = await Promise.all([
    findTableAt(services.db.pool, at.table, version),
    version === 1 ? null : findTableAt(services.db.pool, at.table, version - 1),
  ]);
  if (!after || (version > 1 && !before)) return null;
  const [now, then] = await Promise.all([
    readStoredRows(services, after, [rowId]),
    before ? readStoredRows(services, before, [rowId]) : new Map<number, Cells>(),
  ]);
  const cells = now.get(rowId) ?? null;
  const old = then.get(rowId) ?? null;
  if (!cells && !old) return null;
  const row = { editVersion: version, rowId };
  if (!old) return { ...row, op: 'I', changed: Object.keys(cells ?? {}).map(Number), cells, before: null };
  if (!cells) return { ...row, op: 'D', changed: Object.keys(old).map(Number), cells: null, before: old };
  // A retyped column is listed under its new id; a change of type alone is no change.
  const changed = pairColumns(before?.columns ?? [], after.columns).flatMap(({ left, right }) => {
    const [text, oldText] = [cells[right?.id ?? 0] ?? null, old[left?.id ?? 0] ?? null];
    if (!left || !right || isShownAlike(left.type, oldText, right.type, text)) return [];
    return [{ id: right.id, type: left.type, oldText }];
  });
  if (changed.length === 0) return null;
  return {
    ...row,
    op: 'U',
    changed: changed.map(({ id }) => id),
    cells,
    before: Object.fromEntries(changed.map(({ id, oldText }) => [id, oldText])),
    typesBefore: new Map(changed.map(({ id, type }) => [id, type])),
  };
}

/** Compares values of two types as shown: 8 equals the text 8. */
function isShownAlike(oldType: string, oldText: string | null, type: string, text: string | null): boolean {
  const [before, after] = [parseColumnType(oldType) as ColumnType, parseColumnType(type) as ColumnType];
  if (oldType === type) return sameValue(after, oldText, text);
  const show = (kind: ColumnType, cell: string | null) => (cell === null ? null : cellJson(kind, cell).replaceAll('"', ''));
  return show(before, oldText) === show(after, text);
}

function presentCells(entry: ComparedRow, columns: VisibleColumn[]): ChangedCell[] {
  const changed = new Set(entry.changed);
  return columns.flatMap((column) => {
    if (!changed.has(column.id)) return [];
    // Does not reveal whether a masked cell was empty.
    if (column.masked) return [{ column: column.name, oldJson: 'null', newJson: 'null' }];
    const type = parseColumnType(column.type) as ColumnType;
    const oldType = parseColumnType(entry.typesBefore?.get(column.id) ?? column.type) as ColumnType;
    const oldJson = cellJson(oldType, entry.before?.[column.id] ?? null);
    const newJson = cellJson(type, entry.cells?.[column.id] ?? null);
    // For inserts and deletes, empty cells are left out.
    return entry.op !== 'U' && oldJson === newJson ? [] : [{ column: column.name, oldJson, newJson }];
  });
}
