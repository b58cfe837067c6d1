import { and, desc, eq, lt } from 'drizzle-orm';
import type pg from 'pg';
import { deliveries, webhooks } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';
import { selectColumns } from './selectColumns.ts';
import type { WebhookRecord } from './webhooks.ts';

export type DeliveryRecord = typeof deliveries.$inferSelect;

export interface Listener {
  scope: string;
  webhook: WebhookRecord;
}

/**
 * Webhooks that may be meant by what happens in these workbooks and accounts: those of people who belong to them. What these
 * may see is decided by the caller.
 */
export async function listListeners(pool: pg.Pool | pg.PoolClient, scopes: readonly string[]): Promise<Listener[]> {
  const { rows } = await pool.query<WebhookRecord & { scope: string }>({
    name: 'list_listeners',
    text: `SELECT people.scope, ${selectColumns(webhooks, 'h')} FROM (
             SELECT w.id AS scope, a.owner_id AS user_id FROM workbooks w JOIN accounts a ON a.id = w.account_id WHERE w.id = ANY ($1)
             UNION SELECT w.id, m.user_id FROM workbooks w JOIN members m ON m.workspace_id = w.workspace_id WHERE w.id = ANY ($1)
             UNION SELECT a.id, a.owner_id FROM accounts a WHERE a.id = ANY ($1)) AS people
           JOIN webhooks h ON h.user_id = people.user_id AND h.status = 'active'`,
    values: [scopes],
  });
  return rows.map(({ scope, ...webhook }) => ({ scope, webhook }));
}

export type NewDelivery = Pick<
  DeliveryRecord,
  'id' | 'webhookId' | 'accountId' | 'scope' | 'position' | 'workbookId' | 'eventId' | 'type' | 'payload' | 'createdAt'
>;

/** Queues them, and notes that the workflows of their webhooks are wanted. */
export async function insertDeliveries(tx: Tx, added: readonly NewDelivery[]): Promise<void> {
  if (added.length === 0) return;
  const column = <Key extends keyof NewDelivery>(key: Key) => added.map((delivery) => delivery[key]);
  // A webhook that was deleted meanwhile gets none.
  await tx.client.query({
    name: 'insert_deliveries',
    text: `WITH wanted AS (UPDATE webhooks SET wanted_at = coalesce(wanted_at, $11) WHERE id = ANY ($2) RETURNING id)
           INSERT INTO deliveries
             (id, webhook_id, account_id, scope, position, workbook_id, event_id, type, payload, created_at, next_attempt_at)
           SELECT d.*, $11 FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $8::text[],
             $9::text[], $10::timestamptz[]) AS d(id, webhook_id, account_id, scope, position, workbook_id, event_id, type, payload, created_at)
           JOIN wanted ON wanted.id = d.webhook_id`,
    values: [
      column('id'),
      column('webhookId'),
      column('accountId'),
      column('scope'),
      column('position'),
      column('workbookId'),
      column('eventId'),
      column('type'),
      column('payload'),
      column('createdAt'),
      tx.at,
    ],
  });
}

/** A queue of deliveries: those of a webhook for one scope. */
export interface Queue {
  scope: string;
  /** When its first one is due. */
  dueAt: Date;
}

/** SQL: when a delivery is due. The first try is so at once, also where it was queued before the clock was put back. */
const firstAtOnce = "CASE WHEN d.tries = 0 THEN 'epoch'::timestamptz ELSE d.next_attempt_at END";

/** The queues in which something waits. One that is switched off has only its tests. Finds each queue by one look into the index. */
export async function listQueues(pool: pg.Pool, webhookId: string): Promise<Queue[]> {
  const next = (after: string) =>
    `(SELECT scope FROM deliveries WHERE webhook_id = $1 AND status = 'pending' ${after} ORDER BY webhook_id, scope LIMIT 1)`;
  const { rows } = await pool.query<Queue>({
    name: 'list_queues',
    text: `WITH RECURSIVE queues AS (
             SELECT ${next('')} AS scope
             UNION ALL SELECT ${next('AND scope > queues.scope')} FROM queues WHERE queues.scope IS NOT NULL)
           SELECT queues.scope, first.due AS "dueAt" FROM queues JOIN webhooks h ON h.id = $1 CROSS JOIN LATERAL (
             SELECT ${firstAtOnce} AS due FROM deliveries d WHERE d.webhook_id = $1 AND d.scope = queues.scope AND d.status = 'pending'
             ORDER BY d.position LIMIT 1) AS first
           WHERE h.status = 'active' OR queues.scope = h.id`,
    values: [webhookId],
  });
  return rows;
}

/** A delivery that waits, with what it takes to send it. */
export interface DueDelivery extends Pick<DeliveryRecord, 'id' | 'scope' | 'type' | 'payload' | 'tries' | 'nextAttemptAt'> {
  webhook: WebhookRecord;
}

/** The first of a queue. */
export async function findNextDelivery(pool: pg.Pool, queue: { webhookId: string; scope: string }): Promise<DueDelivery | null> {
  const { rows } = await pool.query<
    WebhookRecord & Record<'deliveryId' | 'scope' | 'type' | 'payload', string> & { tries: number; nextAttemptAt: Date }
  >({
    name: 'next_delivery',
    text: `SELECT d.id AS "deliveryId", d.scope, d.type, d.payload, d.tries, ${firstAtOnce} AS "nextAttemptAt", ${selectColumns(webhooks, 'h')}
           FROM deliveries d JOIN webhooks h ON h.id = d.webhook_id
           WHERE d.webhook_id = $1 AND d.scope = $2 AND d.status = 'pending' ORDER BY d.position LIMIT 1`,
    values: [queue.webhookId, queue.scope],
  });
  const [row] = rows;
  if (!row) return null;
  const { deliveryId, scope, type, payload, tries, nextAttemptAt, ...webhook } = row;
  return { id: deliveryId, scope, type, payload, tries, nextAttemptAt, webhook };
}

interface TryOutcome {
  status: DeliveryRecord['status'];
  /** Left out: nothing was sent. */
  lastStatus?: number | null;
  error?: string | null;
  nextAttemptAt?: Date | null;
}

/** Not flushed by itself: should the database lose it in a crash, the delivery is sent once more. */
export async function recordTry(pool: pg.Pool, { id }: Pick<DueDelivery, 'id'>, outcome: TryOutcome): Promise<void> {
  const { status, lastStatus, error, nextAttemptAt } = outcome;
  await pool.query({
    name: 'record_try',
    text: `UPDATE deliveries SET status = $2, attempts = attempts + $3, tries = tries + $3, last_status = $4, last_error = $5,
             next_attempt_at = $6, delivered_at = CASE WHEN $2 = 'delivered' THEN now() END
           WHERE id = $1 RETURNING set_config('synchronous_commit', 'off', true)`,
    values: [id, status, lastStatus === undefined ? 0 : 1, lastStatus ?? null, error ?? null, nextAttemptAt ?? null],
  });
}

/** Gives up all that waits for a webhook, but its tests. */
export async function failPending(tx: Tx, webhookId: string, error: string): Promise<void> {
  await tx.client.query(
    `UPDATE deliveries SET status = 'failed', last_error = $2, next_attempt_at = NULL
     WHERE webhook_id = $1 AND status = 'pending' AND scope <> webhook_id`,
    [webhookId, error],
  );
}

/** Newest first. */
export async function listDeliveries(
  orm: Orm,
  webhookId: string,
  page: { before: string | null; limit: number },
): Promise<DeliveryRecord[]> {
  return orm
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.webhookId, webhookId), page.before === null ? undefined : lt(deliveries.id, page.before)))
    .orderBy(desc(deliveries.id))
    .limit(page.limit);
}

export async function findDelivery(tx: Tx, id: string): Promise<DeliveryRecord | null> {
  const [row] = await tx.orm.select().from(deliveries).where(eq(deliveries.id, id));
  return row ?? null;
}

/** Lets it begin again, at once and with all its tries. Null: the webhook has no such delivery. */
export async function requeueDelivery(tx: Tx, webhookId: string, id: string): Promise<DeliveryRecord | null> {
  const [row] = await tx.orm
    .update(deliveries)
    .set({ status: 'pending', tries: 0, nextAttemptAt: tx.at, deliveredAt: null })
    .where(and(eq(deliveries.id, id), eq(deliveries.webhookId, webhookId)))
    .returning();
  if (row) await tx.orm.update(webhooks).set({ wantedAt: tx.at }).where(eq(webhooks.id, webhookId));
  return row ?? null;
}
