import { extname } from 'node:path';
import type { Principal } from '../../core/access/principal.ts';
import { googleSheetType, hasBytes } from '../../core/drives/importable.ts';
import { DomainError } from '../../core/errors.ts';
import type { DriveFile, DriveProvider } from '../../store/drives/drive.ts';
import { DriveFailure } from '../../store/drives/drive.ts';
import { OutboundFailure } from '../../store/outbound/outboundFailure.ts';
import type { Services } from '../../store/services.ts';
import { type Draft, fileTooLarge, mostFileBytes, saveDraft } from '../sources/saveDraft.ts';
import { useDrive } from './useDrive.ts';

/** A file of a drive, on disk. Whoever asked for it removes it. */
export interface FetchedFile extends Draft, Pick<DriveFile, 'name' | 'mimeType' | 'modifiedAt' | 'modifiedBy' | 'revision'> {}

/** Fetches a file from the principal's drive as it is now; a Google Sheet as a workbook, with the extension of one. */
export async function fetchDriveFile(
  services: Services,
  principal: Pick<Principal, 'userId' | 'accountId'>,
  { provider, fileId, signal }: { provider: DriveProvider; fileId: string; signal?: AbortSignal },
): Promise<FetchedFile> {
  return useDrive(services, principal, provider, async (drive, accessToken) => {
    const file = await drive.describe(accessToken, fileId);
    requireBytes(file);
    if ((file.size ?? 0) > mostFileBytes) throw fileTooLarge();
    const body = await drive.download(accessToken, file, { mostBytes: mostFileBytes, signal });
    try {
      const draft = await saveDraft(body, () => services.blobs.draft());
      const { mimeType, modifiedAt, modifiedBy, revision } = file;
      return { ...draft, name: nameFile(file), mimeType, modifiedAt, modifiedBy, revision };
    } catch (error) {
      if (!(error instanceof OutboundFailure)) throw error;
      throw error.reason === 'too-large' ? fileTooLarge() : new DriveFailure('unavailable', null, error);
    }
  });
}

function requireBytes({ isFolder, mimeType }: DriveFile): void {
  if (!isFolder && hasBytes(mimeType)) return;
  throw new DomainError(
    'unsupported-media',
    isFolder ? 'This is a folder of the drive, not a file.' : 'This document of the drive is no spreadsheet.',
    'Choose a spreadsheet: GET /api/v1/cloud-files/{provider} lists those that can be imported.',
  );
}

function nameFile({ name, mimeType }: DriveFile): string {
  return mimeType === googleSheetType && extname(name).toLowerCase() !== '.xlsx' ? `${name}.xlsx` : name;
}
