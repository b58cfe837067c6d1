import { googleSheetType, isImportable, xlsxType } from '../../core/drives/importable.ts';
import type { DriveConfig } from '../config.ts';
import type { Outbound } from '../outbound/openOutbound.ts';
import { bearer, callDrive, callDriveJson } from './callDrive.ts';
import type { Drive, DriveFile } from './drive.ts';
import { makeOauth } from './oauth.ts';

const scope = 'https://www.googleapis.com/auth/drive.readonly';
const folderType = 'application/vnd.google-apps.folder';
const fileFields = 'id,name,mimeType,size,modifiedTime,lastModifyingUser(displayName),headRevisionId,version';
/** Pages may hold no importable file at all; so many are read for one of ours. */
const mostPages = 5;

interface GoogleFile {
  id: string;
  name: string;
  mimeType: string;
  /** A number as a text; folders and documents have none. */
  size?: string;
  modifiedTime?: string;
  lastModifyingUser?: { displayName?: string };
  /** Of files with bytes. */
  headRevisionId?: string;
  /** Grows with every change. */
  version?: string;
}

/** Google Drive, API version 3. */
export function openGoogleDrive(outbound: Outbound, config: DriveConfig): Drive {
  const get = <T>(accessToken: string, path: string, query: Record<string, string>) =>
    callDriveJson<T>(outbound, `${config.apiUrl}${path}?${new URLSearchParams(query)}`, bearer(accessToken));
  const fileAt = (id: string) => `/files/${encodeURIComponent(id)}`;

  return {
    provider: 'google_drive',
    canSearch: true,
    // Google gives a refresh token only for offline access, and again only if the user is asked again.
    ...makeOauth(outbound, config, { scope, parameters: { access_type: 'offline', prompt: 'consent' } }),
    // On Google's page a user can leave out single permissions.
    maySee: (scopes) => scopes.includes(scope),
    async readEmail(accessToken) {
      const { user } = await get<{ user?: { emailAddress?: string } }>(accessToken, '/about', { fields: 'user(emailAddress)' });
      return user?.emailAddress ?? null;
    },
    async list(accessToken, { folderId, q, cursor, limit }) {
      const files: DriveFile[] = [];
      let next = cursor;
      for (let page = 0; page < mostPages; page += 1) {
        const answer = await get<{ files?: GoogleFile[]; nextPageToken?: string }>(accessToken, '/files', {
          q: writeQuery(folderId, q),
          orderBy: 'folder,name_natural',
          pageSize: String(limit),
          fields: `nextPageToken,files(${fileFields})`,
          supportsAllDrives: 'true',
          includeItemsFromAllDrives: 'true',
          ...(next === undefined ? {} : { pageToken: next }),
        });
        files.push(...(answer.files ?? []).map(readFile).filter((file) => file.isFolder || isImportable(file)));
        next = answer.nextPageToken;
        if (next === undefined || files.length > 0) break;
      }
      return { files, next: next ?? null };
    },
    async describe(accessToken, fileId) {
      return readFile(await get<GoogleFile>(accessToken, fileAt(fileId), { fields: fileFields, supportsAllDrives: 'true' }));
    },
    async download(accessToken, { id, mimeType }, limits) {
      const address =
        mimeType === googleSheetType
          ? `${fileAt(id)}/export?mimeType=${encodeURIComponent(xlsxType)}`
          : `${fileAt(id)}?alt=media&supportsAllDrives=true`;
      const { headers } = bearer(accessToken);
      return (
        await callDrive(outbound, `${config.apiUrl}${address}`, { headers: { ...headers, accept: '*/*' }, timeoutMs: 120_000, ...limits })
      ).body;
    },
  };
}

/** In the root a part of a name is looked for in all of the drive. */
function writeQuery(folderId: string, q: string | undefined): string {
  const quote = (value: string) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const terms = ['trashed = false'];
  if (q !== undefined) terms.push(`name contains ${quote(q)}`);
  if (q === undefined || folderId !== 'root') terms.push(`${quote(folderId)} in parents`);
  return terms.join(' and ');
}

function readFile(file: GoogleFile): DriveFile {
  const isFolder = file.mimeType === folderType;
  return {
    id: file.id,
    name: file.name,
    isFolder,
    mimeType: isFolder ? null : file.mimeType,
    size: file.size === undefined ? null : Number(file.size),
    modifiedAt: file.modifiedTime === undefined ? null : new Date(file.modifiedTime),
    modifiedBy: file.lastModifyingUser?.displayName ?? null,
    revision: file.headRevisionId ?? file.version ?? null,
  };
}
