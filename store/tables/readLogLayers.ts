import { type LogRange, listLogRanges } from '../../core/table/layers.ts';
import type { LayeredEntry } from '../../core/table/log.ts';
import type { RowSelection, TableVersion } from '../../core/table/table.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import { type LogTail, noTail } from '../duckdb/buildRelation.ts';
import { readLogFile } from '../duckdb/readLogFile.ts';
import type { TailFile } from '../duckdb/tailFiles.ts';
import { listLogFiles } from '../pg/logFiles.ts';
import { listNewestEntries, readNewestEntries } from '../pg/rowLog.ts';
import type { TableStorage } from './tableStorage.ts';

/** The newest log entries of a version, in the form that `buildRelation` takes. */
export async function readTail(storage: TableStorage, { at, columns }: VisibleTable, selection: RowSelection | null): Promise<LogTail> {
  const ranges = listLogRanges(at);
  if (ranges.length === 0) return noTail;
  if (selection !== null) return { file: null, json: await readLogText(storage, at, ranges, selection) };
  const read = { ...at, columns: columns.filter(({ masked }) => !masked) };
  const kept = storage.tails.find(read);
  const since = kept && (await readSince(storage, at, kept));
  if (kept && since && (since.json?.length ?? 0) <= storage.tails.limits.since) return { file: kept.path, json: since.json };
  const json = await readLogText(storage, at, ranges, null);
  if (json !== null) void storage.tails.offer(read, json);
  return { file: null, json };
}

/** The entries since the version of a cached file. Null: the file cannot be used, because the entries after it are no longer in the database. */
async function readSince(storage: TableStorage, at: TableVersion, kept: TailFile): Promise<{ json: string | null } | null> {
  if (kept.versionUid === at.versionUid) return { json: null };
  // These entries are newer than all layers, so they get an index above the last.
  const range = { layer: at.layers.length, after: kept.editVersion, upTo: at.editVersion };
  const { movedUpTo, uid, json } = await readNewestEntries(storage.db.keyed, at.table.id, [range], null);
  return uid === kept.versionUid && movedUpTo <= kept.editVersion ? { json } : null;
}

async function readLogText(
  storage: TableStorage,
  at: TableVersion,
  ranges: LogRange[],
  selection: RowSelection | null,
): Promise<string | null> {
  const { movedUpTo, json } = await readNewestEntries(storage.db.keyed, at.table.id, ranges, selection);
  if (ranges.every((range) => range.after >= movedUpTo)) return json;
  const entries = await readLogLayers(storage, at, selection);
  return entries.length === 0 ? null : JSON.stringify(entries.map(({ rowId, op, layer, cells }) => [rowId, op, layer, cells]));
}

/**
 * The newest entry of each row over all log layers of a version, in row order; later layers win. Layers of the current
 * version are in the database; those of older versions, also after a restore, may be in files.
 */
export async function readLogLayers(storage: TableStorage, at: TableVersion, selection: RowSelection | null): Promise<LayeredEntry[]> {
  const ranges = listLogRanges(at);
  if (ranges.length === 0) return [];
  const { movedUpTo, entries } = await listNewestEntries(storage.db, at.table.id, ranges, selection);
  const newest = new Map(entries.map((entry) => [entry.rowId, entry]));
  for (const { layer, after, upTo } of ranges.filter((range) => range.after < movedUpTo)) {
    const files = await listLogFiles(storage.db.orm, at.table.id, { after, upTo: Math.min(upTo, movedUpTo) }, spanOf(selection));
    for (const file of files.filter(({ kind }) => kind === 'log')) {
      for (const entry of await readLogFile(storage, file, { after, upTo: Math.min(upTo, movedUpTo), rows: selection, withCells: true })) {
        const known = newest.get(entry.rowId);
        const isNewer = !known || layer > known.layer || (layer === known.layer && entry.editVersion > known.editVersion);
        if (isNewer) newest.set(entry.rowId, { ...entry, layer });
      }
    }
  }
  return [...newest.values()].sort((a, b) => a.rowId - b.rowId);
}

export function spanOf(selection: RowSelection | null): { min: number; max: number } | null {
  if (selection === null || 'min' in selection) return selection;
  return { min: selection.ids.reduce((a, b) => Math.min(a, b)), max: selection.ids.reduce((a, b) => Math.max(a, b)) };
}
