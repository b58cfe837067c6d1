import { and, count, desc, eq, lt, sql } from 'drizzle-orm';
import type pg from 'pg';
import { webhooks } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type WebhookRecord = typeof webhooks.$inferSelect;

export interface WebhookFilter {
  userId: string;
  /** Those of this account that hear of no other; without it all of the user's. */
  accountId?: string;
  resource?: string;
}

function matching({ userId, accountId, resource }: WebhookFilter) {
  return and(
    eq(webhooks.userId, userId),
    accountId === undefined ? undefined : and(eq(webhooks.accountId, accountId), eq(webhooks.allAccounts, false)),
    resource === undefined ? undefined : eq(webhooks.resource, resource),
  );
}

export async function insertWebhook(tx: Tx, webhook: typeof webhooks.$inferInsert): Promise<WebhookRecord> {
  const [row] = await tx.orm.insert(webhooks).values(webhook).returning();
  return row as WebhookRecord;
}

/** Newest first. */
export async function listWebhooks(
  orm: Orm,
  filter: WebhookFilter,
  page: { before: string | null; limit: number },
): Promise<WebhookRecord[]> {
  return orm
    .select()
    .from(webhooks)
    .where(and(matching(filter), page.before === null ? undefined : lt(webhooks.id, page.before)))
    .orderBy(desc(webhooks.id))
    .limit(page.limit);
}

export async function listWebhooksOf(orm: Orm, accountId: string): Promise<string[]> {
  const rows = await orm.select({ id: webhooks.id }).from(webhooks).where(eq(webhooks.accountId, accountId));
  return rows.map(({ id }) => id);
}

export async function countWebhooks(orm: Orm, userId: string): Promise<number> {
  const [row] = await orm.select({ webhooks: count() }).from(webhooks).where(eq(webhooks.userId, userId));
  return row?.webhooks ?? 0;
}

export async function findWebhook(orm: Orm, id: string): Promise<WebhookRecord | null> {
  const [row] = await orm.select().from(webhooks).where(eq(webhooks.id, id));
  return row ?? null;
}

/** With its deliveries. False: it is gone already. */
export async function deleteWebhook(tx: Tx, id: string): Promise<boolean> {
  const rows = await tx.orm.delete(webhooks).where(eq(webhooks.id, id)).returning({ id: webhooks.id });
  return rows.length > 0;
}

type Client = Pick<pg.PoolClient, 'query'>;

/** False: it had the status already. */
export async function setWebhookStatus(client: Client, id: string, status: WebhookRecord['status']): Promise<boolean> {
  const { rowCount } = await client.query('UPDATE webhooks SET status = $2 WHERE id = $1 AND status <> $2', [id, status]);
  return rowCount === 1;
}

/** Takes note of what is wanted of a webhook, and promises to look again within the time. False: it is gone. */
export async function attendWebhook(client: Client, id: string, forMs: number): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'attend_webhook',
    text: `UPDATE webhooks SET wanted_at = NULL, attended_until = now() + make_interval(secs => $2) WHERE id = $1`,
    values: [id, forMs / 1000],
  });
  return rowCount === 1;
}

/**
 * Ends the promise. Returns whether more is wanted already. `isCutShort`: it was not kept to its end, so that somebody else is
 * wanted, in case the workflow that would see to it is gone.
 */
export async function leaveWebhook(client: Client, id: string, isCutShort: boolean): Promise<boolean> {
  const { rows } = await client.query<{ wanted: boolean }>({
    name: 'leave_webhook',
    text: `UPDATE webhooks SET attended_until = NULL, wanted_at = CASE WHEN $2 THEN coalesce(wanted_at, now()) ELSE wanted_at END
           WHERE id = $1 RETURNING wanted_at IS NOT NULL AS wanted`,
    values: [id, isCutShort],
  });
  return rows[0]?.wanted ?? false;
}

/** A promise that reaches further than any that is made was made before the clock was put back. */
const isUnattended = `wanted_at IS NOT NULL
  AND (attended_until IS NULL OR attended_until < now() OR attended_until > now() + interval '1 minute')`;

/** Webhooks that are wanted and that nobody looks after; for the time it is promised that somebody will. */
export async function claimWantedWebhooks(client: Client, most: number, forMs: number): Promise<Pick<WebhookRecord, 'id' | 'accountId'>[]> {
  const { rows } = await client.query<Pick<WebhookRecord, 'id' | 'accountId'>>({
    name: 'claim_wanted_webhooks',
    text: `UPDATE webhooks SET attended_until = now() + make_interval(secs => $2)
           WHERE ${isUnattended} AND id IN (SELECT id FROM webhooks WHERE ${isUnattended} ORDER BY wanted_at LIMIT $1)
           RETURNING id, account_id AS "accountId"`,
    values: [most, forMs / 1000],
  });
  return rows;
}

/** They could not be looked after. */
export async function giveBackWebhooks(client: Client, ids: readonly string[]): Promise<void> {
  await client.query('UPDATE webhooks SET attended_until = NULL WHERE id = ANY ($1)', [ids]);
}

/** For each webhook since when it is wanted; empty: it is not. */
export async function readWishes(client: Client, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await client.query<{ id: string; wish: string }>({
    name: 'webhook_wishes',
    text: "SELECT id, coalesce(wanted_at::text, '') AS wish FROM webhooks WHERE id = ANY ($1)",
    values: [ids],
  });
  return new Map(rows.map(({ id, wish }) => [id, wish]));
}

/** The secret of now becomes the one before. Null: the webhook is gone. */
export async function replaceSecret(tx: Tx, id: string, secret: Buffer, previousUntil: Date): Promise<WebhookRecord | null> {
  const [row] = await tx.orm
    .update(webhooks)
    .set({ previousSecret: sql`${webhooks.secret}`, previousSecretExpiresAt: previousUntil, secret })
    .where(eq(webhooks.id, id))
    .returning();
  return row ?? null;
}
