import type { DescribedSlot } from '../../activities/uploads/describeSlot.ts';
import type { components } from '../../schema/contract.ts';
import { presentSource } from './sources.ts';

export function presentSlot({ upload, status, address, error, source }: DescribedSlot): components['schemas']['Upload'] {
  return {
    upload_id: upload.id,
    workbook_id: upload.workbookId,
    filename: upload.filename,
    status,
    ...(address === null ? {} : { upload_url: address }),
    expires_at: upload.expiresAt.toISOString(),
    job_id: upload.jobId,
    error,
    source: source && presentSource(source),
    artifacts: source?.tables.map((table) => table.name) ?? [],
  };
}
