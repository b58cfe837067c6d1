import type { LogEntry } from '../../core/table/log.ts';
import type { Layer } from '../../core/table/table.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import { writeDelta, writeSegment } from '../../store/duckdb/writeFile.ts';
import { reserveRows } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import type { PreparedEdit } from '../tables/editTable.ts';

/** The last one is for an entry, on average: as many as a tail has are read at once, and must fit. */
const mostLogged = { rows: 1000, bytes: 1_000_000, bytesEach: 16_384 };

/** Beyond a thousand rows, a megabyte, or with very long rows an edit becomes a file and one more layer; others stay in the log. */
export async function writeLargeEdit(services: Services, edit: PreparedEdit): Promise<PreparedEdit> {
  const { at, plan } = edit;
  if (plan.entries.length <= mostLogged.rows && !isHeavy(plan.entries)) return edit;
  // A row that comes back under its old id may lie in a segment already: only a delta can stand above that.
  const onlyNew = plan.entries.every((entry) => entry.op === 'I' && entry.rowId < 0);
  const fresh = plan.entries.filter((entry) => entry.rowId < 0).length;
  const first = fresh > 0 ? await reserveRows(services.db.pool, at.table.id, fresh) : 0;
  const numbered = plan.entries
    .map((entry) => (entry.rowId < 0 ? { ...entry, rowId: first - entry.rowId - 1 } : entry))
    .sort((a, b) => a.rowId - b.rowId);
  const rows = numbered.length;
  const span = { rows, minRow: numbered[0]?.rowId ?? 0, maxRow: numbered.at(-1)?.rowId ?? 0 };
  const written = await (onlyNew ? writeSegment : writeDelta)(services, tablePrefix(at.table), at.columns, numbered);
  // It goes through only as the version after the one that was read.
  const layer: Layer = onlyNew
    ? { kind: 'segment', ...span, ...written }
    : { kind: 'delta', rows, after: at.editVersion, upTo: at.editVersion + 1, ...written };
  return {
    at,
    plan: {
      ...plan,
      entries: [],
      appended: { layer, file: { kind: onlyNew ? 'insert' : 'delta', ...span, ...written } },
    },
    rowIds: edit.rowIds.map((id) => (id < 0 ? first - id - 1 : id)),
  };
}

function isHeavy(entries: LogEntry[]): boolean {
  const most = Math.min(mostLogged.bytes, mostLogged.bytesEach * entries.length);
  let bytes = 0;
  for (const { cells, before } of entries) {
    for (const values of [cells, before]) for (const value of Object.values(values ?? {})) bytes += value?.length ?? 4;
    if (bytes > most) return true;
  }
  return false;
}
