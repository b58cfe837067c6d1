/** The caches of a process that are worth watching. */
const caches = {
  blob_files: 'whole files of a remote blob store',
  log_files: 'long logs of tables as local files',
  visible_files: 'tables without their hidden columns, as local files',
  footers: 'footers of Parquet files',
  query_sessions: 'sessions of query processes that have the tables of a query already',
  result_rows: 'rows of small results',
} as const;

export type CacheName = keyof typeof caches;

const counts = new Map<CacheName, { hit: number; miss: number }>();

/** Counts whether a cache of this process had what was asked for. */
export function countLookup(cache: CacheName, outcome: 'hit' | 'miss'): void {
  const count = counts.get(cache) ?? { hit: 0, miss: 0 };
  count[outcome] += 1;
  counts.set(cache, count);
}

/** Since the process started. */
export function readCacheCounts(): { cache: CacheName; hit: number; miss: number }[] {
  return (Object.keys(caches) as CacheName[]).map((cache) => ({ cache, ...(counts.get(cache) ?? { hit: 0, miss: 0 }) }));
}
