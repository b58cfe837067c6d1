import { DomainError } from '../../core/errors.ts';
import type { FileLinkResult, LinkChange, LinkedFile } from '../../core/jobs/linkJobs.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type ListedLink, listLinkVersions, lockLink } from '../../store/pg/fileLinks.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { SourceRecord } from '../../store/pg/sources.ts';
import { requireIdle } from '../sources/beginSourceJob.ts';
import { reviseSource } from '../sources/reviseSource.ts';
import { cutVersion } from './cutVersion.ts';

/** A job that ends with a new version, or what has happened already. */
export type Fed = { job: JobRecord } | { done: FileLinkResult };

/** What the pusher or the drive says about a new state of a file. */
export interface StateInfo {
  kind: 'sync' | 'revert';
  modifiedBy: string | null;
  modified: string | null;
}

/**
 * Runs inside the transaction: a new state of a tracked file. It changes nothing if the file is as in the newest version and the
 * source still has those bytes.
 */
export async function feedLink(tx: Tx, link: ListedLink, file: LinkedFile, info: StateInfo): Promise<Fed> {
  const { id } = link;
  // The source first, as the ingest that cuts a version does.
  const source = await requireIdle(tx, link.sourceId);
  await lockLink(tx, id);
  const newest = (await listLinkVersions(tx.orm, [id])).at(-1);
  if (newest && newest.sha256 === file.sha256 && source.sha256 === file.sha256) return { done: unchanged(id, newest.n) };
  return feedSource(tx, source, { linkId: id, begin: null, seed: null, version: { ...file, ...info, filename: link.name } });
}

/** Runs inside the transaction: gives the bytes to a source that exists. Without a need for an ingest the version is cut at once. */
export async function feedSource(tx: Tx, source: SourceRecord, change: LinkChange): Promise<Fed> {
  const { source: fed, job } = await reviseSource(tx, source.id, change.version, change);
  if (job) return { job };
  return { done: { ...unchanged(change.linkId, await cutVersion(tx, fed, change)), changed: true } };
}

function unchanged(linkId: string, n: number): FileLinkResult {
  return { linkId, n, changed: false, tableIds: [], conflicts: [], creditsCharged: 0 };
}

/** Tables are tracked as people see them, in sheets. */
export function requireSpreadsheet<File extends { format: string; blobKey: string }>(file: File): File & Pick<LinkedFile, 'format'> {
  const { format } = file;
  if (format === 'xlsx' || format === 'csv' || format === 'tsv') return { ...file, format };
  throw new DomainError(
    'unsupported-media',
    `A file of the kind ${format} is no spreadsheet.`,
    'Track an xlsx, xlsm, csv or tsv file; upload others with POST …/sources.',
  );
}
