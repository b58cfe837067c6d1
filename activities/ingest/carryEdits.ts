import { DomainError } from '../../core/errors.ts';
import { mostRows } from '../../core/merge/limits.ts';
import { type RevisedRow, RevisionPlanner } from '../../core/merge/planRevision.ts';
import { reviseColumns } from '../../core/merge/reviseColumns.ts';
import { planRowEdit } from '../../core/table/edit.ts';
import type { LandedTable } from '../../store/pg/sources.ts';
import { findCurrentTableById, findTableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { findEditedRows } from '../../store/tables/findEditedRows.ts';
import { readStoredRows } from '../../store/tables/readStoredRows.ts';
import { writeLargeEdit } from '../rows/writeLargeEdit.ts';
import { findTwins, type Sides } from './findTwins.ts';
import type { CarriedEdits, WrittenTable } from './landTables.ts';
import { nameFileColumns, placeNext } from './placeNext.ts';

/**
 * Merges the edits of a table with a revision of its file, by cell: the file as it landed is the base. Rows of the new file are
 * found by the columns on the left where these tell rows apart, else by their content and place.
 */
export async function prepareCarry(
  services: Services,
  { landing, table }: LandedTable,
  written: WrittenTable,
  options: { keepsIds: boolean; codeRef: string },
): Promise<CarriedEdits | null> {
  const current = await findCurrentTableById(services.db.pool, table.id);
  const base = current && (await findTableAt(services.db.pool, current.table, landing.editVersion));
  if (!current) return null;
  if (!base)
    throw new DomainError(
      'in-use',
      `${table.name} was edited, and the rows of the file as it was are not kept any more.`,
      'Upload the file as a source of its own.',
    );
  const fileColumns = nameFileColumns(written);
  const revised = reviseColumns(base.columns, current.columns, fileColumns, current.table.nextColumnId);
  const next = placeNext(current, written, fileColumns);
  const planner = new RevisionPlanner(revised, options.keepsIds);
  for (const row of await listRows(services, { base, current, next, revised, hasKeptIds: written.hasKeptIds ?? false })) planner.add(row);
  const { entries, conflicts } = planner.plan;
  const columns = revised.columns.map(({ column }) => column);
  const plan = { ...planRowEdit('merge.apply', entries, { conflicts: conflicts.length }), codeRef: options.codeRef };
  const edit = entries.length > 0 ? await writeLargeEdit(services, { at: { ...next, columns }, plan, rowIds: [] }) : null;
  return { editVersion: current.editVersion, columns, edit, conflicts };
}

/** The rows that people touched, with what became of them in the new file. */
async function listRows(services: Services, sides: Sides): Promise<RevisedRow[]> {
  const { base, current, next } = sides;
  const touched = await findEditedRows(services, base, current, mostRows + 1);
  if (touched.length > mostRows)
    throw new DomainError(
      'too-large',
      `More than ${mostRows} rows of ${current.table.name} were edited, which is more than can be merged.`,
      'Upload the file as a source of its own.',
    );
  const [before, now] = [await readStoredRows(services, base, touched), await readStoredRows(services, current, touched)];
  const twins = await findTwins(services, sides, before, now);
  const cells = await readStoredRows(services, next, [...twins.values()]);
  return touched.map((rowId): RevisedRow => {
    const twin = twins.get(rowId);
    const found = twin === undefined ? undefined : cells.get(twin);
    const inFile = twin !== undefined && found ? { rowId: twin, cells: found } : null;
    return { rowId, base: before.get(rowId) ?? null, current: now.get(rowId) ?? null, next: inFile };
  });
}
