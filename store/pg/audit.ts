import { and, desc, eq, lt } from 'drizzle-orm';
import { auditEntries } from '../../schema/index.ts';
import type { HmacPads } from '../secrets.ts';
import type { Database, Orm } from './database.ts';

export type AuditRecord = typeof auditEntries.$inferSelect;

export async function listAuditEntries(orm: Orm, scope: string, page: { before: number | null; limit: number }): Promise<AuditRecord[]> {
  return orm
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.scope, scope), page.before === null ? undefined : lt(auditEntries.seq, page.before)))
    .orderBy(desc(auditEntries.seq))
    .limit(page.limit + 1);
}

/** Checked inside PostgreSQL, over the whole chain. */
export async function isChainValid(db: Database, scope: string, pads: HmacPads): Promise<boolean> {
  const { rows } = await db.pool.query<{ valid: boolean }>('SELECT svc_chain_valid($1, $2, $3) AS valid', [scope, pads.inner, pads.outer]);
  return rows[0]?.valid ?? false;
}

/** The newest entry, for the anchor; null when the chain is empty. */
export async function findNewestEntry(orm: Orm, scope: string): Promise<{ seq: number; hash: string } | null> {
  const [row] = await orm
    .select({ seq: auditEntries.seq, hash: auditEntries.hash })
    .from(auditEntries)
    .where(eq(auditEntries.scope, scope))
    .orderBy(desc(auditEntries.seq))
    .limit(1);
  return row ? { seq: row.seq, hash: row.hash.toString('hex') } : null;
}

/** Whether the chain still holds an entry that it once held. */
export async function hasEntry(orm: Orm, scope: string, entry: { seq: number; hash: string }): Promise<boolean> {
  const rows = await orm
    .select({ seq: auditEntries.seq })
    .from(auditEntries)
    .where(and(eq(auditEntries.scope, scope), eq(auditEntries.seq, entry.seq), eq(auditEntries.hash, Buffer.from(entry.hash, 'hex'))));
  return rows.length > 0;
}
