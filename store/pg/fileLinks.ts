import { and, asc, eq, getTableColumns, gt, inArray, isNull, lte } from 'drizzle-orm';
import { nextLook } from '../../core/jobs/linkJobs.ts';
import { fileLinks, fileLinkVersions, sources, workbooks } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type FileLinkRecord = typeof fileLinks.$inferSelect;
export type FileLinkVersion = typeof fileLinkVersions.$inferSelect;
export type ListedLink = FileLinkRecord & { sourceName: string };

function selectLinks(orm: Orm) {
  return orm
    .select({ ...getTableColumns(fileLinks), sourceName: sources.name })
    .from(fileLinks)
    .innerJoin(sources, eq(sources.id, fileLinks.sourceId));
}

/** Oldest first. */
export async function listLinks(orm: Orm, page: { workbookId: string; after: string | null; limit: number }): Promise<ListedLink[]> {
  const isLeft = page.after === null ? undefined : gt(fileLinks.id, page.after);
  return selectLinks(orm)
    .where(and(eq(fileLinks.workbookId, page.workbookId), isLeft))
    .orderBy(asc(fileLinks.id))
    .limit(page.limit);
}

export async function listLinksById(orm: Orm, ids: string[]): Promise<ListedLink[]> {
  return ids.length === 0 ? [] : selectLinks(orm).where(inArray(fileLinks.id, ids));
}

export async function findLinkByName(orm: Orm, workbookId: string, name: string): Promise<ListedLink | null> {
  const [row] = await selectLinks(orm).where(and(eq(fileLinks.workbookId, workbookId), eq(fileLinks.name, name)));
  return row ?? null;
}

/** The versions of links, oldest first. */
export async function listLinkVersions(orm: Orm, linkIds: string[]): Promise<FileLinkVersion[]> {
  if (linkIds.length === 0) return [];
  return orm
    .select()
    .from(fileLinkVersions)
    .where(inArray(fileLinkVersions.linkId, linkIds))
    .orderBy(asc(fileLinkVersions.linkId), asc(fileLinkVersions.n));
}

export async function findLinkVersion(orm: Orm, linkId: string, n: number): Promise<FileLinkVersion | null> {
  const [row] = await orm
    .select()
    .from(fileLinkVersions)
    .where(and(eq(fileLinkVersions.linkId, linkId), eq(fileLinkVersions.n, n)));
  return row ?? null;
}

/** Locks the link until the transaction ends, so that its versions are numbered without gaps. */
export async function lockLink(tx: Tx, id: string): Promise<FileLinkRecord | null> {
  const [row] = await tx.orm.select().from(fileLinks).where(eq(fileLinks.id, id)).for('update');
  return row ?? null;
}

export async function insertLink(tx: Tx, link: FileLinkRecord): Promise<FileLinkRecord> {
  const [row] = await tx.orm.insert(fileLinks).values(link).returning();
  return row as FileLinkRecord;
}

export async function updateLink(tx: Tx, id: string, fields: Partial<FileLinkRecord>): Promise<void> {
  await tx.orm.update(fileLinks).set(fields).where(eq(fileLinks.id, id));
}

/** Links that are due, oldest first, of workbooks that exist. Each is due again a while later, whatever comes of this time. */
export async function claimDueLinks(orm: Orm, now: Date, limit: number): Promise<ListedLink[]> {
  const due = await selectLinks(orm)
    .innerJoin(workbooks, and(eq(workbooks.id, fileLinks.workbookId), isNull(workbooks.deletedAt)))
    .where(lte(fileLinks.nextLookAt, now))
    .orderBy(asc(fileLinks.nextLookAt))
    .limit(limit);
  const claimed: ListedLink[] = [];
  for (const link of due) {
    const moved = await orm
      .update(fileLinks)
      .set({ nextLookAt: nextLook(link.every, now) })
      .where(and(eq(fileLinks.id, link.id), lte(fileLinks.nextLookAt, now)))
      .returning({ id: fileLinks.id });
    if (moved.length > 0) claimed.push(link);
  }
  return claimed;
}

export async function insertLinkVersion(tx: Tx, version: FileLinkVersion): Promise<void> {
  await tx.orm.insert(fileLinkVersions).values(version);
}
