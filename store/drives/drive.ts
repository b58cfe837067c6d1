import type { Readable } from 'node:stream';

export type DriveProvider = 'google_drive' | 'onedrive';

export interface DriveTokens {
  accessToken: string;
  /** Null: the provider gave none, so the old one stays. */
  refreshToken: string | null;
  expiresAt: Date;
  /** What the user allowed. */
  scopes: string[];
}

export interface DriveFile {
  id: string;
  name: string;
  isFolder: boolean;
  mimeType: string | null;
  size: number | null;
  modifiedAt: Date | null;
  modifiedBy: string | null;
  /** Another one for other content, where the provider tells. */
  revision: string | null;
}

export interface DrivePage {
  files: DriveFile[];
  /** Where the next page begins, in the provider's words. It may hold an address, so it is never taken from a caller as it is. */
  next: string | null;
}

export interface DriveListing {
  folderId: string;
  /** Part of the name. */
  q?: string;
  cursor?: string;
  limit: number;
}

/** A provider of drives. Everything that goes wrong is a `DriveFailure`. */
export interface Drive {
  provider: DriveProvider;
  canSearch: boolean;
  /** The page on which a user allows the service to read the drive. */
  buildAuthorizeUrl(asked: { state: string; challenge: string }): string;
  exchange(given: { code: string; verifier: string }): Promise<DriveTokens>;
  refresh(refreshToken: string): Promise<DriveTokens>;
  /** Whether what the user allowed is enough to read files. */
  maySee(scopes: string[]): boolean;
  readEmail(accessToken: string): Promise<string | null>;
  list(accessToken: string, listing: DriveListing): Promise<DrivePage>;
  describe(accessToken: string, fileId: string): Promise<DriveFile>;
  /** The bytes; those of a Google Sheet as a workbook. */
  download(accessToken: string, file: DriveFile, limits: { mostBytes: number; signal?: AbortSignal }): Promise<Readable>;
}

/**
 * `token`: the access token is not accepted any more. `consent`: neither is the refresh token or code.
 * `forbidden`: the user may not see this. `throttled`: later.
 */
type DriveFailureReason = 'token' | 'consent' | 'forbidden' | 'not-found' | 'too-large' | 'throttled' | 'unavailable';

/** Why a drive did not answer; nothing of what it said. */
export class DriveFailure extends Error {
  override readonly name = 'DriveFailure';

  constructor(
    readonly reason: DriveFailureReason,
    readonly retryAfterS: number | null = null,
    cause?: unknown,
  ) {
    super(`the drive: ${reason}`, { cause });
  }
}
