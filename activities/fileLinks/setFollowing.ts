import { DomainError } from '../../core/errors.ts';
import type { FollowInterval } from '../../core/jobs/linkJobs.ts';
import { followingSet } from '../../core/journal/linkNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { Orm } from '../../store/pg/database.ts';
import { type ListedLink, listLinkVersions, updateLink } from '../../store/pg/fileLinks.ts';
import { followerOf } from './cutVersion.ts';

/** Runs inside the transaction: how often a drive file is looked at, in the name of who asks; null: not at all. */
export async function setFollowing(tx: Tx, link: ListedLink, every: FollowInterval | null): Promise<void> {
  await requireDriveFile(tx.orm, link);
  await updateLink(tx, link.id, followerOf(tx, every));
  tx.note(link.workbookId, followingSet(link, every));
}

/** Where a drive file is, and a name that tells its kind; refuses a local file. */
export async function requireDriveFile(orm: Orm, { id, provider, fileId }: ListedLink) {
  const newest = (await listLinkVersions(orm, [id])).at(-1);
  if (provider && fileId) return { provider, fileId, filename: `file.${newest?.format ?? 'xlsx'}` };
  throw new DomainError('in-use', 'The file lives on no drive, so its states are pushed.', 'Use POST …/versions.');
}
