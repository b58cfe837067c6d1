import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { type CellSet, type Changes, changedCells, mayRebase, type NamedCells, nameCells, noChanges } from '../../core/table/changes.ts';
import type { ColumnRecord, TableAt } from '../../core/table/table.ts';
import type { VisibleColumn } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';
import { findUnloggedVersions, readLog } from './readLog.ts';

const mostChanged = 1000;

/**
 * Checks the caller's `expected_version`; `null` means "do not check". With `rebase`, an edit on an older version is accepted
 * if none of its cells has changed since.
 */
export async function checkVersion(
  services: Services,
  at: TableAt,
  expected: number | null,
  visible: ColumnRecord[],
  rebase: { touched: CellSet } | null,
): Promise<void> {
  if (expected === null || expected === at.editVersion) return;
  const changes = expected < at.editVersion ? await readChanges(services, at, expected) : noChanges;
  if (rebase && mayRebase(at, expected, rebase.touched, changes)) return;
  throw versionConflict(
    at,
    `The table is at version ${at.editVersion}, not ${expected}${changes.schema ? '; its columns have changed, too' : ''}.`,
    expected > at.editVersion ? 'The table never had that version; read it again and re-apply your edit.' : suggestFix(changes),
    nameCells(changes.rows, visible),
    changes.truncated,
  );
}

/** The same for a whole table: returns the columns that the principal sees of it. */
export async function requireExpected(
  services: Services,
  principal: Principal,
  at: TableAt,
  expected: number | null,
): Promise<VisibleColumn[]> {
  const { columns } = await openVisibleColumns(services, principal, at);
  await checkVersion(services, at, expected, columns, null);
  return columns;
}

/** A 409 that lists the conflicting cells. */
export function versionConflict(at: TableAt, detail: string, suggestedFix: string, cells: NamedCells[], truncated: boolean): DomainError {
  return new DomainError('version-conflict', detail, suggestedFix, {
    members: {
      current_version: at.editVersion,
      changed: cells.slice(0, mostChanged).map(({ rowId, columns }) => ({ row_id: rowId, columns })),
      changed_truncated: truncated || cells.length > mostChanged,
    },
  });
}

function suggestFix(changes: Changes): string {
  const rest = 're-apply your edit and send it with the current version.';
  if (changes.schema) return `GET …/columns shows the columns as they are; ${rest}`;
  // After a restore, or after very many edits.
  if (changes.truncated) return `Read the rows again, for \`changed\` does not list all; ${rest}`;
  return `Look at \`changed\`, ${rest}`;
}

async function readChanges(services: Services, at: TableAt, since: number): Promise<Changes> {
  const range = { after: since, upTo: at.editVersion };
  const [entries, versions] = await Promise.all([
    readLog(services, at.table.id, { ...range, limit: mostChanged + 1, withCells: false }),
    findUnloggedVersions(services, at.table.id, range.after, range.upTo),
  ]);
  return {
    rows: changedCells(entries.slice(0, mostChanged), at.columns),
    // A restore changes rows without log entries, so the list is incomplete.
    truncated: entries.length > mostChanged || !versions.logTellsAll,
    schema: at.schemaVersion > since,
  };
}
