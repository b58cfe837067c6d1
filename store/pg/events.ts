import type pg from 'pg';
import type { EventType } from '../../core/journal/events.ts';
import type { Tx } from './commit.ts';

/** An event with its place among all published ones. */
export interface PublishedEvent {
  /** A workbook or an account. */
  scope: string;
  position: number;
  id: string;
  type: EventType;
  actor: string;
  data: Record<string, unknown>;
  createdAt: Date;
}

/** The driver returns bigint as text. */
const eventColumns = 'o.scope, o.position::float8 AS position, o.event_id AS id, o.type, o.actor, o.data, o.created_at AS "createdAt"';

/** Whether there is something to publish. */
export async function hasNews(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ news: boolean }>({
    name: 'has_news',
    text: 'SELECT EXISTS (SELECT 1 FROM outbox WHERE position IS NULL) AS news',
  });
  return rows[0]?.news ?? false;
}

/**
 * Gives the next unpublished events their places: those of a workbook in the order of their numbers, and else by time, as far as
 * that agrees. Null: another process is publishing. One at a time, so that who has read up to a place has missed none before it.
 */
export async function publishEvents(tx: Tx, most: number): Promise<PublishedEvent[] | null> {
  const { rows: locked } = await tx.client.query<{ ours: boolean }>("SELECT pg_try_advisory_xact_lock(hashtext('publish events')) AS ours");
  if (!locked[0]?.ours) return null;
  const { rows } = await tx.client.query<PublishedEvent>({
    name: 'publish_events',
    text: `WITH taken AS (SELECT scope, seq, created_at FROM outbox WHERE position IS NULL ORDER BY scope, seq LIMIT $1),
           timed AS (SELECT scope, seq, max(created_at) OVER (PARTITION BY scope ORDER BY seq) AS at FROM taken),
           placed AS (SELECT scope, seq, nextval('event_positions') AS position FROM (SELECT * FROM timed ORDER BY at, scope, seq) AS ordered)
           UPDATE outbox AS o SET position = placed.position FROM placed WHERE o.scope = placed.scope AND o.seq = placed.seq
           RETURNING ${eventColumns}`,
    values: [most],
  });
  return rows.sort((a, b) => a.position - b.position);
}

/** Published events of these workbooks and accounts, oldest first. */
export async function listEvents(
  pool: pg.Pool,
  wanted: { scopes: readonly string[]; after: number; types: readonly EventType[]; limit: number },
): Promise<PublishedEvent[]> {
  const { rows } = await pool.query<PublishedEvent>({
    name: 'list_events',
    text: `SELECT found.* FROM unnest($1::text[]) AS s(scope) CROSS JOIN LATERAL (
             SELECT ${eventColumns} FROM outbox AS o
             WHERE o.scope = s.scope AND o.position > $2 AND (cardinality($3::text[]) = 0 OR o.type = ANY ($3))
             ORDER BY o.position LIMIT $4) AS found
           ORDER BY found.position LIMIT $4`,
    values: [wanted.scopes, wanted.after, wanted.types, wanted.limit],
  });
  return rows;
}

/** Null: there is no such event, or no longer. */
export async function findPosition(pool: pg.Pool, eventId: string): Promise<number | null> {
  const { rows } = await pool.query<{ position: number }>(
    'SELECT position::float8 AS position FROM outbox WHERE event_id = $1 AND position IS NOT NULL',
    [eventId],
  );
  return rows[0]?.position ?? null;
}

/** The place of the newest published event. */
export async function findLatestPosition(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ position: number | null }>({
    name: 'latest_position',
    text: 'SELECT max(position)::float8 AS position FROM outbox WHERE position IS NOT NULL',
  });
  return rows[0]?.position ?? 0;
}

/** A place for an event that is not in the outbox. */
export async function takePosition(tx: Tx): Promise<number> {
  const { rows } = await tx.client.query<{ position: number }>("SELECT nextval('event_positions')::float8 AS position");
  return (rows[0] as { position: number }).position;
}
