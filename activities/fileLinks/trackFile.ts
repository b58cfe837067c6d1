import { DomainError } from '../../core/errors.ts';
import type { LinkChange, LinkedFile, NewLink } from '../../core/jobs/linkJobs.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { findLinkByName } from '../../store/pg/fileLinks.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { findSource, lockSources, type SourceRecord } from '../../store/pg/sources.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { makeId, type Services } from '../../store/services.ts';
import { workOnFile } from '../ingest/workOnFile.ts';
import { requireIdle } from '../sources/beginSourceJob.ts';
import { addSource } from '../sources/registerSource.ts';
import { takeSnapshot } from './cutVersion.ts';
import { type Fed, feedSource, requireSpreadsheet } from './feedLink.ts';

/** What happens when the service has a source of the same name. `feed`: it gets the bytes where it looks like the same file. */
export type OnExisting = 'auto' | 'seed' | 'replace' | 'refuse' | 'feed';

export interface Tracking {
  workbook: VisibleWorkbook;
  begin: NewLink;
  file: LinkedFile;
  modifiedBy: string | null;
  modified: string | null;
  onExisting: OnExisting;
}

/** The source of the same name, and whether it looks like the same file. */
export interface Compared {
  source: SourceRecord | null;
  isAlike: boolean;
}

/** Reads the sheets of a file that is about to be tracked; refuses one that cannot be read. */
export async function compareWithSource(
  services: Services,
  userId: string,
  { workbook, begin, file, onExisting }: Tracking,
): Promise<Compared> {
  const source = await findSource(services.db.orm, workbook.id, begin.name);
  if (!source || onExisting === 'refuse') return { source, isAlike: false };
  const sheets = await listSheets(services, userId, file);
  if (onExisting === 'seed' || onExisting === 'replace') return { source, isAlike: true };
  const before = new Set(await listSheets(services, userId, requireSpreadsheet(source)));
  return { source, isAlike: sheets.some((sheet) => before.has(sheet)) };
}

const timeMs = 30_000;

/** A text file has one sheet, without a name. */
async function listSheets(services: Services, userId: string, file: LinkedFile): Promise<string[]> {
  if (file.format !== 'xlsx') return [''];
  return workOnFile(services, userId, file, { timeMs }, (open) => open.ask('listSheets', { input: open.input }));
}

/** Runs inside the transaction: a file is tracked from now on. It is a new source, or the one of the same name gets its bytes. */
export async function trackFile(tx: Tx, tracking: Tracking, compared: Compared): Promise<Fed> {
  const { workbook, begin, file, onExisting, modifiedBy, modified } = tracking;
  await lockSources(tx, workbook.id);
  if (await findLinkByName(tx.orm, workbook.id, begin.name)) throw nameTaken(`A file is tracked as ${begin.name} already.`);
  const version: LinkChange['version'] = { ...file, filename: begin.name, kind: 'link', modifiedBy, modified };
  const change: LinkChange = { linkId: makeId('lnk'), begin, seed: null, version };
  const found = await findSource(tx.orm, workbook.id, begin.name);
  if (found?.id !== compared.source?.id || found?.sha256 !== compared.source?.sha256)
    throw new DomainError('in-use', `The source ${begin.name} has changed meanwhile.`, 'Try again.');
  if (!found) return { job: await trackNew(tx, workbook, change) };
  if (onExisting === 'refuse') throw nameTaken(`There is a source named ${begin.name} already.`);
  if (!compared.isAlike) throw nameTaken(`There is a source named ${begin.name} already, and it has no sheet in common with the file.`);
  const source = await requireIdle(tx, found.id);
  if (onExisting === 'replace' || onExisting === 'feed' || source.sha256 === file.sha256) return feedSource(tx, source, change);
  const { filename, format, contentType, size, sha256, blobKey } = requireSpreadsheet(source);
  const snapshotId = await takeSnapshot(tx, source, `${begin.name}, version 1`);
  const seed = { filename, format, contentType, size, sha256, blobKey, snapshotId };
  return feedSource(tx, source, { ...change, seed, version: { ...version, kind: 'sync' } });
}

async function trackNew(tx: Tx, workbook: VisibleWorkbook, link: LinkChange): Promise<JobRecord> {
  const { provider, fileId } = link.begin as NewLink;
  const drive = provider && fileId ? { provider, file_id: fileId } : {};
  const provenance = { kind: 'file_link' as const, link_id: link.linkId, ...drive };
  const arrival = { ...link.version, workbook, mode: 'auto' as const, structuring: 'auto' as const, provenance, announce: false };
  const { job } = await addSource(tx, arrival, link.version.filename, link);
  return job as JobRecord;
}

function nameTaken(detail: string): DomainError {
  return new DomainError('name-taken', detail, 'Track the file under another name with `as_name`, or choose another `on_existing`.');
}
