import { and, asc, eq, gt, inArray, ne, sql } from 'drizzle-orm';
import { union } from 'drizzle-orm/pg-core';
import type pg from 'pg';
import type { PolicyRule } from '../../core/policy/decideEffect.ts';
import { unreviewed } from '../../core/policy/decideEffect.ts';
import { columnTags, policies, workbooks } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Database, Orm } from './database.ts';
import { defineLookup } from './lookups.ts';
import { slice } from './slices.ts';

export type PolicyRecord = typeof policies.$inferSelect;
export type TagRecord = typeof columnTags.$inferSelect;

/** The tags of a table and the rules of its workbook, all read at the same moment. */
export interface TableGovernance {
  policyVersion: number;
  /** Column ids with a tag. */
  tags: [number, string][];
  rules: PolicyRule[];
}

/** By table id and workbook id. */
const tableGovernance = defineLookup<TableGovernance>(
  'table_governance',
  `SELECT w.policy_version::float8 AS "policyVersion",
     (SELECT coalesce(json_agg(json_build_array(t.column_id, t.tag)), '[]') FROM column_tags t WHERE t.table_id = k.a AND t.origin <> 'removed') AS tags,
     (SELECT coalesce(json_agg(json_build_object('tag', p.tag, 'role', p.role, 'effect', p.effect)), '[]') FROM policies p WHERE p.workbook_id = w.id) AS rules
   FROM workbooks w WHERE w.id = k.b LIMIT 1`,
);

/** Null: the workbook is not there, or not for the current accounts. */
export async function findTableGovernance(db: Database, table: { id: string; workbookId: string }): Promise<TableGovernance | null> {
  return db.lookUpInAccounts(tableGovernance, table.id, table.workbookId);
}

/** Of these workbooks those that have policies. A column that nobody has reviewed is one, too. */
export async function listGoverned(orm: Orm, workbookIds: string[]): Promise<Set<string>> {
  if (workbookIds.length === 0) return new Set();
  // Two searches by an index. An OR over both would read all policies of the account.
  const ruled = orm.select({ id: policies.workbookId }).from(policies).where(inArray(policies.workbookId, workbookIds));
  const unseen = orm
    .select({ id: columnTags.workbookId })
    .from(columnTags)
    .where(and(inArray(columnTags.workbookId, workbookIds), eq(columnTags.tag, unreviewed), ne(columnTags.origin, 'removed')));
  const rows = await union(ruled, unseen);
  return new Set(rows.map(({ id }) => id));
}

/** Of these sources those of whose columns some may be hidden: in a governed workbook, and a table made from it has a tag. */
export async function listHiddenSources(pool: pg.Pool, sourceIds: string[]): Promise<Set<string>> {
  if (sourceIds.length === 0) return new Set();
  const { rows } = await pool.query<{ id: string }>(
    `SELECT s.id FROM sources s WHERE s.id = ANY ($1)
       AND EXISTS (SELECT 1 FROM landings l JOIN column_tags t ON t.table_id = l.table_id WHERE l.source_id = s.id AND t.origin <> 'removed'
         AND (t.tag = $2 OR (SELECT count(*) FROM (SELECT FROM policies p WHERE p.workbook_id = s.workbook_id LIMIT 1) AS any_rule) > 0))`,
    [sourceIds, unreviewed],
  );
  return new Set(rows.map(({ id }) => id));
}

const nextVersion = sql`greatest(${workbooks.policyVersion} + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`;

/** Makes a change of tags or policies take effect for all requests that begin after it. */
export async function raisePolicyVersion(tx: Tx, workbookId: string): Promise<void> {
  await tx.orm.update(workbooks).set({ policyVersion: nextVersion }).where(eq(workbooks.id, workbookId));
}

/** Makes a change of somebody's roles take effect like one of policies, wherever it matters. */
export async function raisePolicyVersions(tx: Tx, workspaceId: string): Promise<void> {
  await tx.orm
    .update(workbooks)
    .set({ policyVersion: nextVersion })
    .where(and(eq(workbooks.workspaceId, workspaceId), gt(workbooks.policyVersion, 0)));
}

export async function listPolicies(orm: Orm, workbookId: string, after: [string, string] | null, limit: number): Promise<PolicyRecord[]> {
  return orm
    .select()
    .from(policies)
    .where(
      and(eq(policies.workbookId, workbookId), after ? sql`(${policies.tag}, ${policies.role}) > (${after[0]}, ${after[1]})` : undefined),
    )
    .orderBy(asc(policies.tag), asc(policies.role))
    .limit(limit);
}

export async function upsertPolicy(tx: Tx, rule: Omit<PolicyRecord, 'createdAt' | 'updatedAt'>): Promise<PolicyRecord> {
  const { effect, actor } = rule;
  const [row] = await tx.orm
    .insert(policies)
    .values({ ...rule, createdAt: tx.at, updatedAt: tx.at })
    .onConflictDoUpdate({ target: [policies.workbookId, policies.tag, policies.role], set: { effect, actor, updatedAt: tx.at } })
    .returning();
  return row as PolicyRecord;
}

/** How many rules went: that of a role, or all of the tag. */
export async function deletePolicies(tx: Tx, workbookId: string, tag: string, role: string | null): Promise<number> {
  const gone = await tx.orm
    .delete(policies)
    .where(and(eq(policies.workbookId, workbookId), eq(policies.tag, tag), role === null ? undefined : eq(policies.role, role)))
    .returning({ role: policies.role });
  return gone.length;
}

/** What the tables have of a tag, `removed` included. */
export async function listTagsOf(orm: Orm, tableIds: string[]): Promise<TagRecord[]> {
  if (tableIds.length === 0) return [];
  return orm.select().from(columnTags).where(inArray(columnTags.tableId, tableIds));
}

export async function putTags(tx: Tx, rows: (typeof columnTags.$inferInsert)[]): Promise<void> {
  for (const some of slice(rows))
    await tx.orm
      .insert(columnTags)
      .values(some)
      .onConflictDoUpdate({
        target: [columnTags.tableId, columnTags.columnId, columnTags.tag],
        set: {
          origin: sql`excluded.origin`,
          fromTable: sql`excluded.from_table`,
          fromColumn: sql`excluded.from_column`,
          actor: sql`excluded.actor`,
          createdAt: sql`excluded.created_at`,
        },
      });
}

/** Remembers that a tag was taken off. False: it was not there. */
export async function removeTag(tx: Tx, tableId: string, columnIds: number[], tag: string): Promise<boolean> {
  const rows = await tx.orm
    .update(columnTags)
    .set({ origin: 'removed', fromTable: null, fromColumn: null, actor: tx.actor.name, createdAt: tx.at })
    .where(
      and(
        eq(columnTags.tableId, tableId),
        inArray(columnTags.columnId, columnIds),
        eq(columnTags.tag, tag),
        ne(columnTags.origin, 'removed'),
      ),
    )
    .returning({ tag: columnTags.tag });
  return rows.length > 0;
}
