import { DomainError } from '../../core/errors.ts';
import { isFinal } from '../../core/jobs/endings.ts';
import type { TableAt } from '../../core/table/table.ts';
import { isViewDue } from '../../core/transforms/viewDue.ts';
import { findCurrentTableById } from '../../store/pg/tables.ts';
import { listStaleViews, listTransformsById, readViewState, type TransformRecord, updateTransform } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';
import { retryOnMove } from '../tables/editTable.ts';
import { remakeView } from './remakeView.ts';

/** How long a reader waits for a view. */
const mostMs = 45_000;

/** Opens tables for somebody who reads them, all at one moment, with the views among them up to date. */
export async function openFresh(services: Services, userId: string, open: () => Promise<TableAt[]>): Promise<TableAt[]> {
  for (let tries = 1; ; tries += 1) {
    const tables = await open();
    const views = tables.filter(({ table }) => table.layer === 'view' && table.state === 'active' && table.deletedAt === null);
    let moved = false;
    for (const { table } of views) moved = (await refreshView(services, userId, table.id)) || moved;
    // Who edits all the time does not keep a reader waiting for ever.
    if (!moved || tries === 3) return moved ? open() : tables;
  }
}

/** The table as it is to be read: a view is brought up to date. */
export async function freshen(services: Services, userId: string, at: TableAt): Promise<TableAt> {
  if (at.table.layer !== 'view') return at;
  const [fresh] = await openFresh(services, userId, async () => [(await findCurrentTableById(services.db.pool, at.table.id)) ?? at]);
  return fresh ?? at;
}

/** The same for the views among some tables, one after the other. */
async function refreshViewsAmong(services: Services, userId: string, tableIds: string[]): Promise<void> {
  for (const id of tableIds) await refreshView(services, userId, id);
}

/** Brings the views of a workbook up to date, as far as that can be done. */
export async function refreshAllViews(services: Services, userId: string, workbookId: string): Promise<void> {
  for (const id of await listStaleViews(services.db.pool, workbookId))
    await refreshView(services, userId, id).catch((error: unknown) => {
      if (!isFinal(error)) throw error;
    });
}

/**
 * Makes a view again if what it reads has changed; the views that it reads first. Returns whether it has another version then.
 * One at a time in a process: who waits finds it made. Of several processes the first to commit wins.
 */
async function refreshView(services: Services, userId: string, tableId: string): Promise<boolean> {
  const state = await readViewState(services.db.pool, tableId);
  if (!state || !(state.isRevised || state.inputs.some(({ isMarked }) => isMarked))) return false;
  await refreshViewsAmong(
    services,
    userId,
    state.isRevised ? state.argIds : state.inputs.filter(({ isMarked }) => isMarked).map(({ id }) => id),
  );
  const release = await services.editLocks.acquire(tableId);
  try {
    const now = await readViewState(services.db.pool, tableId);
    if (!now) return true;
    if (!isViewDue(now)) return now.versionUid !== state.versionUid;
    await remakeInTime(services, userId, now.transformId);
    return true;
  } finally {
    release();
  }
}

async function remakeInTime(services: Services, userId: string, transformId: string): Promise<void> {
  const signal = AbortSignal.timeout(mostMs);
  const [transform] = await listTransformsById(services.db.orm, [transformId]);
  if (!transform) return;
  try {
    await retryOnMove(() => remakeView(services, userId, transform, signal));
  } catch (error) {
    if (signal.aborted) throw refuseView(transform, `it takes longer than ${mostMs / 1000} seconds`, 'Materialize it as a table.');
    if (!isFinal(error)) throw error;
    await updateTransform(services.db.orm, transformId, { lastError: error.detail });
    // The message of an engine may quote values that are hidden from the reader.
    const isGoverned = await services.policies.isGoverned(transform.workbookId);
    throw refuseView(transform, isGoverned ? 'its transform fails' : error.detail, error.suggestedFix);
  }
}

function refuseView({ output, name }: TransformRecord, why: string, fix: string): DomainError {
  return new DomainError('query-failed', `The view ${output} cannot be made: ${why}`, `${fix} The view is made by the transform ${name}.`);
}
