import { DomainError } from '../../core/errors.ts';
import type { ColumnRecord, TableAt } from '../../core/table/table.ts';
import type { Services } from '../../store/services.ts';
import { findUnloggedVersions, readLog } from './readLog.ts';

const mostChanged = 1000;

/** The cells an edit would write: row ids with column ids; new rows touch nothing that exists. */
export type TouchedCells = Map<number, number[] | 'row'>;

/**
 * The caller's `expected_version` against the table's. `null` is an explicit "do not check". With `rebase` an edit goes
 * through on a newer version when its cells and the changed cells are disjoint.
 */
export async function checkVersion(
  services: Services,
  at: TableAt,
  expected: number | null,
  visible: ColumnRecord[],
  rebase: { touched: TouchedCells } | null,
): Promise<void> {
  if (expected === null || expected === at.editVersion) return;
  const changed =
    expected < at.editVersion
      ? await listChangedCells(services, at, expected)
      : { rows: new Map<number, Set<number>>(), truncated: false, schema: false };
  if (
    rebase &&
    expected >= 1 &&
    expected < at.editVersion &&
    !changed.truncated &&
    !changed.schema &&
    areDisjoint(rebase.touched, changed.rows)
  )
    return;
  throw new DomainError(
    'version-conflict',
    `The table is at version ${at.editVersion}, not ${expected}${changed.schema ? '; its columns have changed, too' : ''}.`,
    expected > at.editVersion ? 'The table never had that version; read it again and re-apply your edit.' : suggestFix(changed),
    {
      members: {
        current_version: at.editVersion,
        changed: listVisibleCells(changed.rows, visible),
        changed_truncated: changed.truncated,
      },
    },
  );
}

function suggestFix(changed: { truncated: boolean; schema: boolean }): string {
  const rest = 're-apply your edit and send it with the current version.';
  if (changed.schema) return `GET …/columns shows the columns as they are; ${rest}`;
  // As after a restore, or after very many edits.
  if (changed.truncated) return `Read the rows again, for \`changed\` does not list all; ${rest}`;
  return `Look at \`changed\`, ${rest}`;
}

/** Changed cells by name. A row of which only hidden columns changed is not in it: that it changed would be told, too. */
export function listVisibleCells(rows: Map<number, Set<number>>, visible: ColumnRecord[]): { row_id: number; columns: string[] }[] {
  const names = new Map(visible.map((column) => [column.id, column.name]));
  return [...rows]
    .map(([rowId, columns]) => ({ row_id: rowId, columns: [...columns].flatMap((id) => names.get(id) ?? []) }))
    .filter(({ columns }) => columns.length > 0);
}

async function listChangedCells(
  services: Services,
  at: TableAt,
  since: number,
): Promise<{ rows: Map<number, Set<number>>; truncated: boolean; schema: boolean }> {
  const range = { after: since, upTo: at.editVersion };
  const [entries, versions] = await Promise.all([
    readLog(services, at.table.id, { ...range, limit: mostChanged + 1, withCells: false }),
    findUnloggedVersions(services, at.table.id, range.after, range.upTo),
  ]);
  const rows = new Map<number, Set<number>>();
  for (const entry of entries.slice(0, mostChanged)) {
    const columns = rows.get(entry.rowId) ?? new Set<number>();
    // A row that came or went has changed as a whole.
    for (const id of entry.op === 'U' ? entry.changed : at.columns.map((column) => column.id)) columns.add(id);
    rows.set(entry.rowId, columns);
  }
  // A restore changes rows without an entry for each: the list is then not all of it.
  return { rows, truncated: entries.length > mostChanged || !versions.logTellsAll, schema: at.schemaVersion > since };
}

function areDisjoint(touched: TouchedCells, changed: Map<number, Set<number>>): boolean {
  for (const [rowId, columns] of touched) {
    const others = changed.get(rowId);
    if (!others) continue;
    if (columns === 'row' || columns.some((id) => others.has(id))) return false;
  }
  return true;
}
