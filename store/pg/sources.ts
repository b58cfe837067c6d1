import { and, asc, count, desc, eq, getTableColumns, inArray, isNull, lt, ne, sql } from 'drizzle-orm';
import type { ParseSpec, RegionSummary } from '../../core/structuring/spec/spec.ts';
import type { TableRecord } from '../../core/table/table.ts';
import { jobDrafts, landings, sources, structurings, tableInputs, tables } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';
import { insertRows } from './insertRows.ts';
import { slice } from './slices.ts';
import { tableRecord } from './tables.ts';

export type SourceRecord = typeof sources.$inferSelect;
/** Without the parse spec's columns, which can be many, and the extents. */
export type SourceSummary = Omit<SourceRecord, 'spec' | 'extents'> & {
  spec: ({ regions: RegionSummary[] } & { [Field in 'learned' | 'doubtful']?: ParseSpec[Field] | null }) | null;
};
export type LandingRecord = typeof landings.$inferSelect;

/** Serializes registrations in a workbook, so that names stay unique and a file uploaded twice is noticed. */
export async function lockSources(tx: Tx, workbookId: string): Promise<void> {
  await tx.client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`sources ${workbookId}`]);
}

const { spec, extents, ...shown } = getTableColumns(sources);
const specInShort = sql<
  SourceSummary['spec']
>`CASE WHEN ${spec} IS NOT NULL THEN jsonb_build_object('learned', ${spec} -> 'learned', 'doubtful', ${spec} -> 'doubtful', 'regions', (
  SELECT coalesce(jsonb_agg(jsonb_build_object('id', region -> 'id', 'sheet', region -> 'sheet', 'range', region -> 'range',
    'kind', region -> 'kind', 'name', region -> 'name', 'selected', region -> 'selected',
    'confidence', region -> 'confidence') ORDER BY n), '[]')
  FROM jsonb_array_elements(${spec} -> 'regions') WITH ORDINALITY AS each (region, n))) END`;

export async function listSources(
  orm: Orm,
  filter: { workbookId: string; before?: string | null; limit: number },
): Promise<SourceSummary[]> {
  return orm
    .select({ ...shown, spec: specInShort })
    .from(sources)
    .where(and(eq(sources.workbookId, filter.workbookId), filter.before == null ? undefined : lt(sources.id, filter.before)))
    .orderBy(desc(sources.id))
    .limit(filter.limit);
}

/** How many sources each workbook has; those without any are left out. */
export async function countSources(orm: Orm, workbookIds: string[]): Promise<Map<string, number>> {
  if (workbookIds.length === 0) return new Map();
  const rows = await orm
    .select({ id: sources.workbookId, sources: count() })
    .from(sources)
    .where(inArray(sources.workbookId, workbookIds))
    .groupBy(sources.workbookId);
  return new Map(rows.map((row) => [row.id, row.sources]));
}

export async function findSource(orm: Orm, workbookId: string, name: string): Promise<SourceRecord | null> {
  const [row] = await orm
    .select()
    .from(sources)
    .where(and(eq(sources.workbookId, workbookId), eq(sources.name, name)));
  return row ?? null;
}

export async function findSourceById(orm: Orm, id: string): Promise<SourceRecord | null> {
  const [row] = await orm.select().from(sources).where(eq(sources.id, id));
  return row ?? null;
}

export async function listSourcesById(orm: Orm, ids: string[]): Promise<SourceRecord[]> {
  return ids.length === 0 ? [] : orm.select().from(sources).where(inArray(sources.id, ids));
}

/** Locks the source until the transaction ends. */
export async function lockSource(tx: Tx, id: string): Promise<SourceRecord | null> {
  const [row] = await tx.orm.select().from(sources).where(eq(sources.id, id)).for('update');
  return row ?? null;
}

export async function findSourceByContent(tx: Tx, workbookId: string, sha256: string): Promise<SourceRecord | null> {
  const [row] = await tx.orm
    .select()
    .from(sources)
    .where(and(eq(sources.workbookId, workbookId), eq(sources.sha256, sha256), ne(sources.status, 'failed')))
    .orderBy(asc(sources.id))
    .limit(1);
  return row ?? null;
}

export async function listSourceNames(orm: Orm, workbookId: string): Promise<Set<string>> {
  const rows = await orm.select({ name: sources.name }).from(sources).where(eq(sources.workbookId, workbookId));
  return new Set(rows.map((row) => row.name));
}

export async function insertSource(tx: Tx, source: typeof sources.$inferInsert): Promise<SourceRecord> {
  const [row] = await tx.orm.insert(sources).values(source).returning();
  return row as SourceRecord;
}

export async function updateSource(tx: Tx, id: string, fields: Partial<typeof sources.$inferInsert>): Promise<SourceRecord> {
  const [row] = await tx.orm
    .update(sources)
    .set({ updatedAt: tx.at, ...fields })
    .where(eq(sources.id, id))
    .returning();
  return row as SourceRecord;
}

export async function deleteSource(tx: Tx, id: string): Promise<void> {
  await tx.orm.delete(sources).where(eq(sources.id, id));
}

export interface LandedTable {
  landing: LandingRecord;
  table: TableRecord;
}

/** Existing tables that came from the current revision of sources, in the sources' order. */
export async function listLanded(orm: Orm, sourceIds: string[]): Promise<LandedTable[]> {
  if (sourceIds.length === 0) return [];
  return orm
    .select({ landing: landings, table: tableRecord })
    .from(landings)
    .innerJoin(tables, eq(tables.id, landings.tableId))
    .innerJoin(sources, and(eq(sources.id, landings.sourceId), eq(sources.revision, landings.revision)))
    .where(and(inArray(landings.sourceId, sourceIds), isNull(tables.deletedAt)))
    .orderBy(asc(landings.sourceId), asc(landings.position), asc(landings.editVersion));
}

/** The landings of tables with their sources, newest first. */
export async function listLandings(orm: Orm, tableIds: string[]): Promise<(LandingRecord & { source: SourceRecord })[]> {
  if (tableIds.length === 0) return [];
  const rows = await orm
    .select({ landing: landings, source: sources })
    .from(landings)
    .innerJoin(sources, eq(sources.id, landings.sourceId))
    .where(inArray(landings.tableId, tableIds))
    .orderBy(desc(landings.editVersion), asc(landings.position));
  return rows.map(({ landing, source }) => ({ ...landing, source }));
}

export async function insertLandings(tx: Tx, rows: (typeof landings.$inferInsert)[]): Promise<void> {
  await insertRows(tx, landings, rows);
}

/** What a revision of the source made of a table counts for the next one, too. */
export async function moveLanding(
  tx: Tx,
  { tableId, sourceId, revision }: Pick<LandingRecord, 'tableId' | 'sourceId' | 'revision'>,
  fields: Partial<LandingRecord>,
): Promise<void> {
  await tx.orm
    .update(landings)
    .set(fields)
    .where(
      and(eq(landings.tableId, tableId), eq(landings.sourceId, sourceId), eq(landings.revision, revision), ne(landings.role, 'appended')),
    );
}

/**
 * A version with the content of an older one came from the file that the older one came from. No revision of the source counts it
 * as its own.
 */
export async function restoreLandings(tx: Tx, tableId: string, oldVersion: number, newVersion: number): Promise<void> {
  const newest = `SELECT max(edit_version) FROM landings WHERE table_id = $1 AND role <> 'appended' AND edit_version`;
  await tx.client.query(
    `INSERT INTO landings (table_id, built_name, edit_version, source_id, revision, role, position, sheet, region_id, range, min_row, max_row,
       row_base, provenance_key, kept_key, kept_formulas)
     SELECT table_id, built_name, $3, source_id, 0, role, position, sheet, region_id, range, min_row, max_row,
       row_base, provenance_key, kept_key, kept_formulas
     FROM landings WHERE table_id = $1 AND role <> 'appended' AND edit_version = (${newest} <= $2) AND edit_version <> (${newest} < $3)`,
    [tableId, oldVersion, newVersion],
  );
}

/** That tables were structured from the raw tables of their sheets, and by which columns. */
export async function putStructured(
  tx: Tx,
  edges: Pick<typeof tableInputs.$inferInsert, 'tableId' | 'inputId' | 'flows'>[],
): Promise<void> {
  for (const some of slice(edges))
    await tx.orm
      .insert(tableInputs)
      .values(some.map((edge) => ({ ...edge, kind: 'structuring' as const })))
      .onConflictDoUpdate({ target: [tableInputs.tableId, tableInputs.inputId], set: { flows: sql`excluded.flows` } });
}

/** Names of tables that somebody derived from these; those made by structuring, and reports, do not count. */
export async function listDerivedNames(tx: Tx, tableIds: string[]): Promise<string[]> {
  if (tableIds.length === 0) return [];
  const rows = await tx.orm
    .select({ name: tables.name })
    .from(tableInputs)
    .innerJoin(tables, eq(tables.id, tableInputs.tableId))
    .where(
      and(inArray(tableInputs.inputId, tableIds), ne(tableInputs.kind, 'structuring'), ne(tables.type, 'report'), isNull(tables.deletedAt)),
    );
  return rows.map((row) => row.name);
}

export type StructuringRecord = typeof structurings.$inferSelect;

/**
 * Claims the structuring of this content for a job. Returns null if the job got the claim; else the existing record: the
 * content is structured already, or another job is doing it.
 */
export async function claimStructuring(
  tx: Tx,
  claim: { accountId: string; contentHash: string; jobId: string; filename: string },
): Promise<StructuringRecord | null> {
  const key = and(eq(structurings.accountId, claim.accountId), eq(structurings.contentHash, claim.contentHash));
  const [taken] = await tx.orm
    .insert(structurings)
    .values({ ...claim, state: 'building', updatedAt: tx.at })
    .onConflictDoUpdate({
      target: [structurings.accountId, structurings.contentHash],
      set: { jobId: claim.jobId, filename: claim.filename, updatedAt: tx.at },
      // A claim of a job that has ended can be taken over.
      setWhere: sql`${structurings.state} = 'building' AND NOT EXISTS (
        SELECT 1 FROM jobs WHERE jobs.id = ${structurings.jobId} AND jobs.finished_at IS NULL AND jobs.id <> ${claim.jobId})`,
    })
    .returning();
  if (taken) return null;
  const [standing] = await tx.orm.select().from(structurings).where(key);
  return standing ?? null;
}

export async function findStructuring(orm: Orm, accountId: string, contentHash: string): Promise<StructuringRecord | null> {
  const [row] = await orm
    .select()
    .from(structurings)
    .where(and(eq(structurings.accountId, accountId), eq(structurings.contentHash, contentHash)));
  return row ?? null;
}

/** Marks the content as structured, so that the account is not charged again. Returns false if this job had no claim. */
export async function finishStructuring(
  tx: Tx,
  done: { accountId: string; contentHash: string; jobId: string; filename: string; spec: SourceRecord['spec'] },
): Promise<boolean> {
  const { rowCount } = await tx.orm
    .update(structurings)
    .set({ state: 'ready', filename: done.filename, spec: done.spec, updatedAt: tx.at })
    .where(
      and(
        eq(structurings.accountId, done.accountId),
        eq(structurings.contentHash, done.contentHash),
        eq(structurings.jobId, done.jobId),
        eq(structurings.state, 'building'),
      ),
    );
  return rowCount === 1;
}

export async function deleteStructuringClaim(tx: Tx, jobId: string): Promise<void> {
  await tx.orm.delete(structurings).where(and(eq(structurings.jobId, jobId), eq(structurings.state, 'building')));
}

/** A draft saved after its job was cancelled is deleted by the next sweep. */
export async function saveDraft(orm: Orm, jobId: string, stage: string, draft: object): Promise<void> {
  await orm
    .insert(jobDrafts)
    .values({ jobId, stage, draft })
    .onConflictDoUpdate({ target: [jobDrafts.jobId, jobDrafts.stage], set: { draft } });
}

export async function findDraft<T>(orm: Orm, jobId: string, stage: string): Promise<T | null> {
  const [row] = await orm
    .select()
    .from(jobDrafts)
    .where(and(eq(jobDrafts.jobId, jobId), eq(jobDrafts.stage, stage)));
  return (row?.draft as T | undefined) ?? null;
}

export async function listDrafts<T>(orm: Orm, jobId: string): Promise<{ stage: string; draft: T }[]> {
  const rows = await orm.select().from(jobDrafts).where(eq(jobDrafts.jobId, jobId));
  return rows.map(({ stage, draft }) => ({ stage, draft: draft as T }));
}

export async function deleteDrafts(tx: Tx, jobId: string): Promise<void> {
  await tx.orm.delete(jobDrafts).where(eq(jobDrafts.jobId, jobId));
}
