import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import type { DriveListing, DrivePage, DriveProvider } from '../../store/drives/drive.ts';
import { deriveKey, seal, unseal } from '../../store/secrets.ts';
import type { Services } from '../../store/services.ts';
import { requireDrive, useDrive } from './useDrive.ts';

/** A page of a folder. Its cursor is encrypted: it holds the provider's own, which can be an address that is called with the user's token. */
export async function listDriveFiles(
  services: Services,
  principal: Principal,
  { provider, folderId, q, cursor, limit }: DriveListing & { provider: DriveProvider },
): Promise<DrivePage> {
  const drive = requireDrive(services, provider);
  if (q !== undefined && !drive.canSearch) throw refuse('/query/q', `files of ${provider} cannot be searched by name`, 'Leave `q` out.');
  const list = JSON.stringify([principal.userId, provider, folderId, q ?? null]);
  const from = cursor === undefined ? {} : { cursor: openCursor(services, list, cursor) };
  const { files, next } = await useDrive(services, principal, provider, (_, accessToken) =>
    drive.list(accessToken, { folderId, q, limit, ...from }),
  );
  return { files, next: next === null ? null : seal(keyOf(services), Buffer.from(JSON.stringify({ list, next }))).toString('base64url') };
}

const keyOf = ({ config }: Services) => deriveKey(config.secret, 'drive cursors');

function openCursor(services: Services, list: string, cursor: string): string {
  try {
    const opened = JSON.parse(unseal(keyOf(services), Buffer.from(cursor, 'base64url')).toString('utf8')) as { list: string; next: string };
    if (opened.list === list) return opened.next;
  } catch {
    // Said below.
  }
  throw refuse('/query/cursor', 'was not given out by this list', 'Begin without a cursor.');
}

function refuse(pointer: string, detail: string, fix: string): DomainError {
  return new DomainError('validation-failed', `${pointer}: ${detail}.`, fix, { errors: [{ pointer, detail }] });
}
