import { DomainError } from '../../core/errors.ts';
import { planOverrides } from '../../core/overrides/planOverrides.ts';
import { undoOverrides } from '../../core/overrides/undoOverrides.ts';
import type { PreparedEdit } from '../../core/table/edit.ts';
import type { LogRow } from '../../core/table/log.ts';
import type { TableAt } from '../../core/table/table.ts';
import { countOverrides, listOverriddenBefore, listOverrides } from '../../store/pg/overrides.ts';
import { listTransformsOfOutputs } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';
import { requireActive, requireEditable } from '../tables/editTable.ts';

/** A run reads all overrides of its output. */
const mostOverrides = 100_000;

/** Refuses edits of cells that a table does not take: a derived table does if its rows are known from run to run. */
export async function requireCellsEditable(services: Services, at: TableAt): Promise<void> {
  if (at.table.layer !== 'derived') return requireEditable(at);
  requireActive(at);
  if ((await findKey(services, at)) === null)
    throw new DomainError(
      'in-use',
      'The table is derived without `key`: its rows are not known from run to run, so an edit could not stay.',
      'Give its transform a `key`, or edit the tables it is derived from.',
    );
}

/** Ids of the key columns; null without a key. */
async function findKey({ db }: Services, { table, columns }: TableAt): Promise<number[] | null> {
  const [transform] = await listTransformsOfOutputs(db.orm, [table.id]);
  const key = transform?.key ?? null;
  return key && columns.filter(({ name }) => key.includes(name)).map(({ id }) => id);
}

/** An edit of a derived table with what it does to overrides; other edits unchanged. */
export async function overrideCells(services: Services, edit: PreparedEdit): Promise<PreparedEdit> {
  const { at, plan } = edit;
  if (at.table.layer !== 'derived') return edit;
  const rowIds = plan.entries.map(({ rowId }) => rowId);
  const [key, live, count] = await Promise.all([
    findKey(services, at),
    listOverrides(services.db.pool, at.table.id, rowIds),
    countOverrides(services.db.pool, at.table.id),
  ]);
  const planned = planOverrides(at.columns, key ?? [], plan.entries, live);
  if (planned.kind === 'rows')
    throw new DomainError(
      'in-use',
      'The table is derived: its rows come from its transform, and only cells of them can be edited.',
      'Name rows by their ids, or add the row to a table that it is derived from.',
    );
  if (planned.kind === 'key')
    throw new DomainError(
      'in-use',
      `The rows of the table are known by ${planned.columns.map(({ name }) => name).join(', ')}, so that cannot be edited.`,
      'Edit the tables it is derived from.',
    );
  if (count + planned.changes.set.length > mostOverrides)
    throw new DomainError(
      'in-use',
      `A derived table keeps at most ${mostOverrides} edited cells.`,
      'Edit the tables it is derived from, or change the transform.',
    );
  return { ...edit, plan: { ...plan, overrides: planned.changes } };
}

/** The entries of an op, as they are to be undone: on a derived table, what the transform gives now counts. */
export async function readUndone(services: Services, at: TableAt, version: number, entries: LogRow[]): Promise<LogRow[]> {
  if (at.table.layer !== 'derived') return entries;
  const rowIds = entries.map(({ rowId }) => rowId);
  const { pool } = services.db;
  const [before, live] = await Promise.all([
    listOverriddenBefore(pool, at.table.id, version, rowIds),
    listOverrides(pool, at.table.id, rowIds),
  ]);
  return undoOverrides(entries, before, live);
}
