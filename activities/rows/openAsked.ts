import { DomainError } from '../../core/errors.ts';
import { foreignCursor } from '../../core/paging.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { Services } from '../../store/services.ts';
import { requirePastTable, resolveAt } from '../snapshots/resolveAt.ts';
import { requireTable, requireTableAt } from '../tables/openTable.ts';
import { freshen } from '../transforms/refreshViews.ts';
import { pinnedVersion } from './rowsQuery.ts';

/** Which state of a table is asked for. */
export interface AskedState {
  /** A version label or snapshot id. */
  at?: string;
  at_version?: number;
  /** Goes on with a list, in the version that the list began with. */
  cursor?: string;
}

/** The current table, an older version of it, or its state in a snapshot. */
export async function openAsked(services: Services, userId: string, workbookId: string, name: string, asked: AskedState): Promise<TableAt> {
  if (asked.at !== undefined) return requirePastTable(services, await resolveAt(services, workbookId, asked.at), name);
  const current = await requireTable(services, workbookId, name);
  if (asked.at_version !== undefined) return requireTableAt(services, current, asked.at_version);
  const pinned = pinnedVersion(asked.cursor);
  if (pinned === null) return freshen(services, userId, current);
  if (pinned < 1 || pinned > current.editVersion) throw foreignCursor();
  return requireTableAt(services, current, pinned).catch((error: unknown) => {
    if (!(error instanceof DomainError) || error.code !== 'expired') throw error;
    throw new DomainError(
      'expired',
      `The cursor is of version ${pinned} of the table, which is not kept any more.`,
      'Start again without cursor.',
    );
  });
}
