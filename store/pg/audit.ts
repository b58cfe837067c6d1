import { and, desc, eq, lt } from 'drizzle-orm';
import type pg from 'pg';
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
    .limit(page.limit);
}

export interface ChainHead {
  /** True when all checked entries and the head fit together. */
  whole: boolean;
  seq: number;
  hash: string;
}

/** Checks a chain inside PostgreSQL, from the entry after `from` or from its beginning. Null: the chain has no head. */
export async function checkChain(
  db: Database,
  scope: string,
  pads: HmacPads,
  from: { seq: number; hash: string } | null,
): Promise<ChainHead | null> {
  const { rows } = await db.pool.query<{ whole: boolean; seq: string; hash: string }>(
    `SELECT whole, seq, encode(hash, 'hex') AS hash
     FROM svc_check_chain($1, $2, coalesce($3, svc_chain_start($4, $5, $1)), $4, $5)`,
    [scope, from?.seq ?? 0, from && Buffer.from(from.hash, 'hex'), pads.inner, pads.outer],
  );
  const [row] = rows;
  return row ? { ...row, seq: Number(row.seq) } : null;
}

/** Whether the chain still holds an entry, unchanged. */
export async function hasEntry(orm: Orm, scope: string, entry: { seq: number; hash: string }): Promise<boolean> {
  const rows = await orm
    .select({ seq: auditEntries.seq })
    .from(auditEntries)
    .where(and(eq(auditEntries.scope, scope), eq(auditEntries.seq, entry.seq), eq(auditEntries.hash, Buffer.from(entry.hash, 'hex'))));
  return rows.length > 0;
}

export interface UnanchoredChain {
  scope: string;
  accountId: string;
  broken: boolean;
}

/**
 * Chains that have grown since they were anchored or are known to be broken, in order of scopes. Includes anchored chains
 * whose head is gone, with the account `none`; leaves out deleted workbooks and accounts, whose anchors are deleted with them.
 */
export async function listUnanchoredChains(pool: pg.Pool, after: string, limit: number): Promise<UnanchoredChain[]> {
  const { rows } = await pool.query<UnanchoredChain>(
    `SELECT scope, account_id AS "accountId", broken FROM (
       (SELECT h.scope, h.account_id, a.broken_at IS NOT NULL AS broken
        FROM heads h LEFT JOIN audit_anchors a ON a.scope = h.scope
        WHERE h.scope > $1 AND (h.audit_seq <> coalesce(a.seq, 0) OR a.broken_at IS NOT NULL)
          AND NOT EXISTS (SELECT 1 FROM workbooks w WHERE w.id = h.scope AND w.deleted_at IS NOT NULL)
          AND NOT EXISTS (SELECT 1 FROM accounts o WHERE o.id = h.account_id AND o.deleted_at IS NOT NULL)
        ORDER BY h.scope LIMIT $2)
       UNION ALL
       (SELECT a.scope, 'none', true FROM audit_anchors a
        WHERE a.scope > $1 AND NOT EXISTS (SELECT 1 FROM heads h WHERE h.scope = a.scope)
          AND NOT EXISTS (SELECT 1 FROM workbooks w WHERE w.id = a.scope AND w.deleted_at IS NOT NULL)
        ORDER BY a.scope LIMIT $2)
     ) AS moved ORDER BY scope LIMIT $2`,
    [after, limit],
  );
  return rows;
}

/**
 * Records how far a chain is anchored. A broken chain stays marked until a check of the whole chain succeeds. Of a chain of which
 * nothing is left, neither head nor record, nothing is recorded.
 */
export async function recordAnchor(
  pool: pg.Pool,
  scope: string,
  note: { seq: number; state: 'whole' | 'anchored' | 'broken' },
): Promise<void> {
  await pool.query(
    `INSERT INTO audit_anchors AS a (scope, seq, broken_at) SELECT $1::text, $2::bigint, CASE WHEN $3 = 'broken' THEN now() END
     WHERE EXISTS (SELECT 1 FROM heads WHERE scope = $1) OR EXISTS (SELECT 1 FROM audit_anchors WHERE scope = $1)
     ON CONFLICT (scope) DO UPDATE SET
       seq = excluded.seq,
       broken_at = CASE $3 WHEN 'broken' THEN coalesce(a.broken_at, now()) WHEN 'whole' THEN NULL ELSE a.broken_at END
     WHERE a.seq <> excluded.seq OR (a.broken_at IS NULL) = ($3 = 'broken')`,
    [scope, note.seq, note.state],
  );
}

export async function countBrokenChains(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ n: number }>('SELECT count(*)::int AS n FROM audit_anchors WHERE broken_at IS NOT NULL');
  return rows[0]?.n ?? 0;
}
