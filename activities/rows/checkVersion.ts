import { DomainError } from '../../core/errors.ts';
import { listEntries } from '../../store/pg/rowLog.ts';
import type { ColumnRecord, TableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';

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
  const names = new Map(visible.map((column) => [column.id, column.name]));
  throw new DomainError(
    'version-conflict',
    `The table is at version ${at.editVersion}, not ${expected}.`,
    'Look at `changed`, re-apply your edit on top of it and send it with the current version.',
    {
      members: {
        current_version: at.editVersion,
        changed: [...changed.rows].map(([rowId, columns]) => ({
          row_id: rowId,
          columns: [...columns].flatMap((id) => names.get(id) ?? []),
        })),
        changed_truncated: changed.truncated,
      },
    },
  );
}

async function listChangedCells(
  services: Services,
  at: TableAt,
  since: number,
): Promise<{ rows: Map<number, Set<number>>; truncated: boolean; schema: boolean }> {
  const entries = await listEntries(services.db.pool, at.table.id, { after: since, upTo: at.editVersion, limit: mostChanged + 1 });
  const rows = new Map<number, Set<number>>();
  for (const entry of entries.slice(0, mostChanged)) {
    const columns = rows.get(entry.rowId) ?? new Set<number>();
    // A row that came or went has changed as a whole.
    for (const id of entry.op === 'U' ? entry.changed : at.columns.map((column) => column.id)) columns.add(id);
    rows.set(entry.rowId, columns);
  }
  const inFiles = at.layers.some((layer) => layer.kind === 'delta' && layer.upTo > since);
  return { rows, truncated: entries.length > mostChanged || inFiles, schema: at.schemaVersion > since };
}

function areDisjoint(touched: TouchedCells, changed: Map<number, Set<number>>): boolean {
  for (const [rowId, columns] of touched) {
    const others = changed.get(rowId);
    if (!others) continue;
    if (columns === 'row' || columns.some((id) => others.has(id))) return false;
  }
  return true;
}
