import { type FollowInterval, type LinkChange, nextLook } from '../../core/jobs/linkJobs.ts';
import { fileTracked, versionCut } from '../../core/journal/linkNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type FileLinkRecord, insertLink, insertLinkVersion, listLinkVersions, lockLink } from '../../store/pg/fileLinks.ts';
import type { SourceRecord } from '../../store/pg/sources.ts';
import { findWorkbook } from '../../store/pg/workbooks.ts';
import { commitSnapshot } from '../snapshots/commitSnapshot.ts';

/** Runs inside the transaction that gives the source its new content: the next version of the tracked file, with a snapshot. */
export async function cutVersion(tx: Tx, source: SourceRecord, change: LinkChange): Promise<number> {
  const link = change.begin ? await beginLink(tx, source, change) : await lockLink(tx, change.linkId);
  if (!link) throw new Error(`file link ${change.linkId} is gone`);
  const before = await listLinkVersions(tx.orm, [link.id]);
  const n = (before.at(-1)?.n ?? 0) + 1;
  const { kind, modified, ...file } = change.version;
  const snapshotId = await takeSnapshot(tx, source, `${link.name}, version ${n}`);
  const version = { ...file, linkId: link.id, accountId: link.accountId, n, kind, syncedAt: tx.at, snapshotId };
  await insertLinkVersion(tx, { ...version, modifiedAt: modified === null ? null : new Date(modified) });
  tx.note(source.workbookId, versionCut(link, { n, kind }));
  return n;
}

async function beginLink(tx: Tx, source: SourceRecord, { linkId, begin, seed }: LinkChange): Promise<FileLinkRecord> {
  if (!begin) throw new Error(`file link ${linkId} has no beginning`);
  const { workbookId, accountId } = source;
  const link = await insertLink(tx, {
    ...begin,
    id: linkId,
    workbookId,
    accountId,
    sourceId: source.id,
    ...followerOf(tx, begin.every),
    createdAt: tx.at,
  });
  tx.note(workbookId, fileTracked(link));
  if (seed) {
    const unknown = { modifiedBy: null, modifiedAt: null };
    await insertLinkVersion(tx, { ...seed, ...unknown, linkId, accountId, n: 1, kind: 'link', syncedAt: tx.at });
  }
  return link;
}

/** From now on the file is looked at in the name of who asks. */
export function followerOf({ actor, at }: Tx, every: FollowInterval | null) {
  return { userId: actor.userId as string, credential: actor.credential, actor: actor.name, every, nextLookAt: nextLook(every, at) };
}

export async function takeSnapshot(tx: Tx, source: Pick<SourceRecord, 'workbookId'>, summary: string): Promise<string> {
  const workbook = await findWorkbook(tx.orm, source.workbookId);
  if (!workbook) throw new Error(`workbook ${source.workbookId} is gone`);
  return (await commitSnapshot(tx, workbook, { summary, eventType: 'file_link' })).snapshot.id;
}
