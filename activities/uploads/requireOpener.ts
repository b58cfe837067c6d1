import { DomainError } from '../../core/errors.ts';
import type { Services } from '../../store/services.ts';
import { requireWorkbook } from '../access.ts';
import { findPrincipal } from '../identity/findPrincipal.ts';
import type { Slot } from './requireSlot.ts';

/** The address of a slot is worth as much as the rights of who opened it: their credential must live, and let them write. */
export async function requireOpener(services: Services, { upload }: Slot): Promise<void> {
  const opener = await findPrincipal(services, upload.userId, upload.credential);
  if (!opener || opener.ended !== null) throw noLongerAllowed('used a credential that has ended since');
  try {
    await requireWorkbook(services, opener.principal, upload.workbookId, 'editor');
  } catch (error) {
    throw error instanceof DomainError ? noLongerAllowed('may not change the workbook any more') : error;
  }
}

function noLongerAllowed(why: string): DomainError {
  return new DomainError(
    'outside-reach',
    `Who opened the upload slot ${why}.`,
    'Let somebody who may change the workbook open another one with POST …/uploads.',
  );
}
