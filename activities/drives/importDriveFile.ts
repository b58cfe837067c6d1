import { rm } from 'node:fs/promises';
import type { Principal } from '../../core/access/principal.ts';
import type { DriveProvider } from '../../store/drives/drive.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { receiveFile } from '../sources/receiveFile.ts';
import { requireRoom } from '../storage/withRoom.ts';
import { fetchDriveFile } from './fetchDriveFile.ts';

/** Fetches a file from the principal's drive and stores it as a file that was sent. */
export async function importDriveFile(
  services: Services,
  principal: Principal,
  workbook: Pick<VisibleWorkbook, 'id' | 'accountId'>,
  asked: { provider: DriveProvider; fileId: string; filename: string; signal: AbortSignal },
): Promise<Awaited<ReturnType<typeof receiveFile>>> {
  await requireRoom(services, workbook.accountId, 1);
  const { path, size, sha256 } = await fetchDriveFile(services, principal, asked);
  try {
    return await receiveFile(services, principal.userId, workbook, { path, size, sha256, filename: asked.filename });
  } finally {
    await rm(path, { force: true });
  }
}
