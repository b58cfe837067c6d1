import { notFound } from '../../core/errors.ts';
import { acrossAccounts, inAccount } from '../../store/pg/accountScope.ts';
import { findUpload, type UploadRecord } from '../../store/pg/uploads.ts';
import { findWorkbook, type WorkbookRecord } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { checkSignature } from './signSlot.ts';

export interface Slot {
  upload: UploadRecord;
  workbook: WorkbookRecord;
}

export async function requireSlot(services: Services, uploadId: string): Promise<Slot> {
  const upload = await findUpload(services.db.orm, uploadId);
  const workbook = upload && (await findWorkbook(services.db.orm, upload.workbookId));
  if (!upload || !workbook) throw notFound('upload slot', 'Open another one with POST …/uploads.');
  return { upload, workbook };
}

/** The signature opens the slot. The slot tells the account, and `work` sees only that account's rows. */
export async function withSignedSlot<T>(
  services: Services,
  signed: { uploadId: string; expires: number; sig: string },
  work: (slot: Slot) => Promise<T>,
): Promise<T> {
  checkSignature(services, signed.uploadId, signed.expires, signed.sig);
  const slot = await acrossAccounts(() => requireSlot(services, signed.uploadId));
  return inAccount(slot.upload.accountId, () => work(slot));
}
