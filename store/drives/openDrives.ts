import type { ServiceConfig } from '../config.ts';
import type { Outbound } from '../outbound/openOutbound.ts';
import type { Drive, DriveProvider } from './drive.ts';
import { openGoogleDrive } from './googleDrive.ts';
import { openOneDrive } from './oneDrive.ts';

/** The providers that are configured. */
export type Drives = Record<DriveProvider, Drive | null>;

export function openDrives({ drives }: Pick<ServiceConfig, 'drives'>, outbound: Outbound): Drives {
  return {
    google_drive: drives.google_drive && openGoogleDrive(outbound, drives.google_drive),
    onedrive: drives.onedrive && openOneDrive(outbound, drives.onedrive),
  };
}
