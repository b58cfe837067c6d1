import type { PlannedEdit } from '../table/edit.ts';
import type { LogEntry } from '../table/log.ts';
import type { Layer, PlannedLayer } from '../table/table.ts';

/** What an account stores, in bytes. */
export interface StorageUse {
  /** The current versions of tables that are not deleted: their files, and the latest edits. */
  tables: number;
  /** Original files. */
  sources: number;
  /** Results of queries that have not expired. */
  results: number;
  /** How many of these there are. */
  resultCount: number;
  /** What the account's plan allows; Infinity for no limit. */
  limit: number;
}

/** What is free for tables and sources. Results do not count: they go when their room is needed. */
export function countRoom({ tables, sources, limit }: StorageUse): number {
  return Math.max(0, limit - tables - sources);
}

/** Results beyond this number go even if they are small. */
export const mostResults = 50_000;

/**
 * What results may take together: at most `limit`, and not more than tables and sources leave. A tenth of `limit` is always
 * theirs, because queries must work in a full account, too.
 */
export function countResultShare(use: StorageUse, limit: number): number {
  return Math.min(limit, Math.max(countRoom(use), limit / 10));
}

export function sumLayers(layers: readonly (Layer | PlannedLayer)[]): number {
  return layers.reduce((sum, layer) => sum + ('bytes' in layer ? layer.bytes : 0), 0);
}

/** What an edit adds. One that only removes rows adds nothing that counts, so that there is a way back below a limit. */
export function countAdded({ inserted, updated, entries, appended, layers }: PlannedEdit): number {
  if (layers) return sumLayers(layers);
  if (inserted + updated === 0) return 0;
  return appended ? appended.file.bytes : entries.reduce((sum, entry) => sum + countEntry(entry), 0);
}

/** About as many bytes as the entry has in the log. */
function countEntry({ cells, before }: LogEntry): number {
  let bytes = 0;
  for (const values of [cells, before])
    for (const [id, value] of Object.entries(values ?? {})) bytes += id.length + (value?.length ?? 0) + 6;
  return bytes;
}
