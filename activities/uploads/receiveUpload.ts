import type { Actor, Tx, WriteAnswer } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import type { UploadRecord } from '../../store/pg/uploads.ts';
import type { Services } from '../../store/services.ts';
import { startJobs } from '../jobs/startJob.ts';
import { receiveFile } from '../sources/receiveFile.ts';
import { type DescribedSlot, describeSlot } from './describeSlot.ts';
import { fillSlot } from './fillSlot.ts';
import { requireOpener } from './requireOpener.ts';
import type { Slot } from './requireSlot.ts';

/** The ingest runs in the name of who opened the slot: nobody else is known. */
export function slotActor(upload: UploadRecord, requestId: string): Actor {
  return { name: upload.actorName, userId: upload.userId, credential: upload.credential, requestId };
}

/** Stores the bytes sent to a slot and starts their ingest. */
export async function receiveUpload<Answer>(
  services: Services,
  write: WriteAnswer<Answer>,
  slot: Slot,
  sent: Parameters<typeof receiveFile>[3],
  answer: (slot: DescribedSlot) => Answer,
): Promise<Answer> {
  const { upload, workbook } = slot;
  // Asked again: the bytes may have taken their time.
  await requireOpener(services, slot);
  const file = await receiveFile(services, upload.userId, workbook, sent);
  const begun: JobRecord[] = [];
  const fill = async (tx: Tx) => {
    const filled = await fillSlot(tx, upload.id, file);
    if (filled.job) begun.push(filled.job);
    return describeSlot(services, tx.orm, filled.upload);
  };
  const answered = await services.intake.run(upload.userId, () => write(fill, answer));
  for (const job of begun) await startJobs(services, job.userId);
  return answered;
}
