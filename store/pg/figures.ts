import type pg from 'pg';

export interface JobCount {
  kind: string;
  status: string;
  jobs: number;
}

/** The jobs that are kept, those that are over for a week. */
export async function countJobs(pool: pg.Pool): Promise<JobCount[]> {
  const { rows } = await pool.query<JobCount>('SELECT kind, status, count(*)::int AS jobs FROM jobs GROUP BY kind, status');
  return rows;
}

export interface WaitingEvents {
  /** Not published yet. */
  events: number;
  /** Of published events, to webhooks; those that are tried again later included. */
  deliveries: number;
}

export async function countWaitingEvents(pool: pg.Pool): Promise<WaitingEvents> {
  const { rows } = await pool.query<WaitingEvents>(
    `SELECT (SELECT count(*) FROM outbox WHERE position IS NULL)::int AS events,
            (SELECT count(*) FROM deliveries WHERE status = 'pending')::int AS deliveries`,
  );
  return rows[0] as WaitingEvents;
}

export interface StoredBytes {
  /** Files as they were sent. */
  sources: number;
  /** Files of the current versions of tables. */
  tables: number;
  /** The database: catalog, latest edits, journal. */
  database: number;
}

export async function sumStoredBytes(pool: pg.Pool): Promise<StoredBytes> {
  const { rows } = await pool.query<Record<keyof StoredBytes, string>>(
    `SELECT (SELECT coalesce(sum(size), 0) FROM sources) AS sources,
            (SELECT coalesce(sum((entry->>'bytes')::bigint), 0)
             FROM tables t JOIN manifests m ON m.id = t.manifest_id CROSS JOIN LATERAL jsonb_array_elements(m.layers) AS part(entry)
             WHERE t.deleted_at IS NULL AND entry->>'kind' <> 'log') AS tables,
            pg_database_size(current_database()) AS database`,
  );
  const { sources, tables, database } = rows[0] as Record<keyof StoredBytes, string>;
  return { sources: Number(sources), tables: Number(tables), database: Number(database) };
}
