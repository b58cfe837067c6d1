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
