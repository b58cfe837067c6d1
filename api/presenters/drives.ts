import type { DriveAuthorization } from '../../activities/drives/describeAuthorization.ts';
import type { components } from '../../schema/contract.ts';
import type { DriveFile } from '../../store/drives/drive.ts';

type Schemas = components['schemas'];

export function presentAuthorization({ provider, authorizeUrl, email }: DriveAuthorization): Schemas['DriveAuthorization'] {
  return { provider, authorized: authorizeUrl === null, authorize_url: authorizeUrl, account_email: email };
}

export function presentDriveFile(file: DriveFile): Schemas['CloudFile'] {
  return {
    id: file.id,
    name: file.name,
    isFolder: file.isFolder,
    mime_type: file.mimeType,
    size: file.size,
    modified_at: file.modifiedAt?.toISOString() ?? null,
    modified_by: file.modifiedBy,
  };
}
