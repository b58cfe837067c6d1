import { DomainError } from '../../core/errors.ts';
import type { Override } from '../../core/overrides/override.ts';
import { listOverrides } from '../../store/pg/overrides.ts';
import { findCurrentTableById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { refuseMasked } from '../rows/refuseMasked.ts';
import { planOnStored } from '../rows/upsertRows.ts';
import { requireActive } from '../tables/editTable.ts';
import { gone, type Resolution } from './resolveConflict.ts';
import type { SeenConflict } from './seeConflicts.ts';

/** False: the row or the column of the conflict is gone, and the override with it. */
export async function hasOverride(services: Services, conflict: SeenConflict): Promise<boolean> {
  return (await findOverride(services, conflict)) !== null;
}

async function findOverride({ db }: Services, { tableId, rowId, columnId }: SeenConflict): Promise<Override | null> {
  return (await listOverrides(db.pool, tableId, [rowId])).find((override) => override.columnId === columnId) ?? null;
}

/** Plans to write what the transform gives in the place of an override. */
export async function prepareDrop(services: Services, conflict: SeenConflict): Promise<Resolution> {
  if (conflict.column.masked) throw refuseMasked(conflict.column, 'Ask somebody who may see it.');
  // The table first: an override that changes after it makes a version, and this starts again.
  const at = await findCurrentTableById(services.db.pool, conflict.tableId);
  if (!at) throw new DomainError('in-use', 'The table was deleted.', 'Close the conflict with `acknowledge`.');
  requireActive(at);
  const override = await findOverride(services, conflict);
  if (!override) throw gone('row');
  const { rowId, columnId, below } = override;
  const cast = { rowId, cells: { [columnId]: below }, given: [columnId] };
  const edit = await planOnStored(services, at, [cast], { words: { pointerOf: () => '', refuseMissing: () => gone('row') } });
  return { ...edit, conflict, status: 'override_dropped', current: below, dropped: override };
}
