import type { IngestInput } from './sourceJobs.ts';

export type FollowInterval = 'hourly' | 'daily' | 'weekly';

const hourMs = 3_600_000;
const intervalMs: Record<FollowInterval, number> = { hourly: hourMs, daily: 24 * hourMs, weekly: 7 * 24 * hourMs };

/** When a file that is followed is looked at next. */
export function nextLook(every: FollowInterval | null, at: Date): Date | null {
  return every && new Date(at.getTime() + intervalMs[every]);
}

/** A file that is tracked from now on. */
export interface NewLink {
  name: string;
  kind: 'cloud' | 'local';
  provider: 'google_drive' | 'onedrive' | null;
  fileId: string | null;
  origin: string | null;
  every: FollowInterval | null;
}

/** What of a file the versions of a link keep. */
export interface LinkedFile {
  filename: string;
  format: 'xlsx' | 'csv' | 'tsv';
  contentType: string;
  size: number;
  sha256: string;
  blobKey: string;
}

/** A new state of a tracked file. It becomes a version in the transaction that ends its ingest. */
export interface LinkChange {
  linkId: string;
  /** Null: it is tracked already. */
  begin: NewLink | null;
  /** The copy that the service had before it was tracked, which becomes version 1. */
  seed: (LinkedFile & { snapshotId: string }) | null;
  version: LinkedFile & { kind: 'link' | 'sync' | 'revert'; modifiedBy: string | null; modified: string | null };
}

export interface FileLinkInput extends IngestInput {
  link: LinkChange;
}

export interface FileLinkResult {
  linkId: string;
  n: number;
  /** False: the bytes are those of the current version. */
  changed: boolean;
  /** Tables with new content. */
  tableIds: string[];
  /** Conflicts opened. */
  conflicts: string[];
  creditsCharged: number;
}
