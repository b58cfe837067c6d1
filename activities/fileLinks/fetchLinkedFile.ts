import { rm } from 'node:fs/promises';
import type { Principal } from '../../core/access/principal.ts';
import type { LinkedFile } from '../../core/jobs/linkJobs.ts';
import type { DriveProvider } from '../../store/drives/drive.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { fetchDriveFile } from '../drives/fetchDriveFile.ts';
import { receiveFile } from '../sources/receiveFile.ts';
import { requireRoom } from '../storage/withRoom.ts';
import { requireSpreadsheet } from './feedLink.ts';

/** The present state of a drive file, stored as a file that was sent, and what the drive says about it. */
export interface DriveState {
  file: LinkedFile;
  modifiedBy: string | null;
  modified: string | null;
}

/** Fetches a drive file with the principal's authorization. `filename` tells its kind. */
export async function fetchLinkedFile(
  services: Services,
  principal: Pick<Principal, 'userId' | 'accountId'>,
  workbook: Pick<VisibleWorkbook, 'id' | 'accountId'>,
  asked: { provider: DriveProvider; fileId: string; filename: string; signal?: AbortSignal },
): Promise<DriveState> {
  await requireRoom(services, workbook.accountId, 1);
  const { filename } = asked;
  const { path, size, sha256, modifiedBy, modifiedAt } = await fetchDriveFile(services, principal, asked);
  try {
    const { workbook: _, ...received } = await receiveFile(services, principal.userId, workbook, { path, size, sha256, filename });
    return { file: requireSpreadsheet(received), modifiedBy, modified: modifiedAt?.toISOString() ?? null };
  } finally {
    await rm(path, { force: true });
  }
}
