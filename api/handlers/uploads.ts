import { requireWorkbook } from '../../activities/access.ts';
import { startJob } from '../../activities/jobs/startJob.ts';
import { describeSources } from '../../activities/sources/describeSources.ts';
import { cleanFilename, receiveFile } from '../../activities/sources/receiveFile.ts';
import { type DescribedUpload, describeSlot, fillSlot, openSlot, slotActor, slotStatus } from '../../activities/uploads/fillSlot.ts';
import { checkSignature, slotAddress } from '../../activities/uploads/signSlot.ts';
import { uploadOpened } from '../../core/journal/sourceNotes.ts';
import type { components } from '../../schema/contract.ts';
import type { Orm } from '../../store/pg/database.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { insertUpload, type UploadRecord } from '../../store/pg/uploads.ts';
import { acrossAccounts, inAccount } from '../../store/pg/whoseRows.ts';
import type { WorkbookRecord } from '../../store/pg/workbooks.ts';
import { makeId } from '../../store/services.ts';
import type { Call, Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentSource } from '../presenters/sources.ts';

const openMs = 3_600_000;

export function makeUploadHandlers({ services }: ApiParts): Handlers<'createUpload' | 'getUpload' | 'putUpload'> {
  const present = async (orm: Orm, slot: DescribedUpload): Promise<components['schemas']['Upload']> => {
    const { upload, job, source } = slot;
    const status = slotStatus(slot);
    const [described] = status === 'ingested' && source ? await describeSources(orm, [source]) : [];
    return {
      upload_id: upload.id,
      workbook_id: upload.workbookId,
      filename: upload.filename,
      status,
      ...(status === 'pending' ? { upload_url: slotAddress(services, upload) } : {}),
      expires_at: upload.expiresAt.toISOString(),
      job_id: upload.jobId,
      error: job?.status === 'failed' ? (job.error ?? 'The ingest failed.') : null,
      source: described ? presentSource(described) : null,
      artifacts: described?.tables.map((table) => table.name) ?? [],
    };
  };

  const fill = async (call: Call<'putUpload'>, upload: UploadRecord, workbook: WorkbookRecord) => {
    const file = await receiveFile(services, workbook, await call.saveBody(upload.filename));
    let begun: JobRecord | null = null;
    const reply = await call.writeAs(slotActor(upload, call.requestId))(
      async (tx) => {
        const filled = await fillSlot(tx, upload.id, file);
        begun = filled.job;
        return present(tx.orm, await describeSlot(tx.orm, filled.upload));
      },
      (body) => ({ status: 200, body }),
    );
    if (begun) await startJob(services, begun);
    return reply;
  };

  return {
    async createUpload(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const actor = call.actor();
      const upload: UploadRecord = {
        id: makeId('upl'),
        workbookId: workbook.id,
        accountId: workbook.accountId,
        userId: call.principal.userId,
        actorName: actor.name,
        credential: actor.credential,
        filename: cleanFilename(call.body.filename, '/filename'),
        contentType: call.body.content_type ?? null,
        mode: call.body.mode ?? 'auto',
        structuring: call.body.structuring ?? 'auto',
        sha256: null,
        jobId: null,
        sourceId: null,
        createdAt: new Date(),
        // Whole seconds: they are part of the address.
        expiresAt: new Date(Math.floor((Date.now() + openMs) / 1000) * 1000),
      };
      const body = await present(services.db.orm, { upload, job: null, source: null });
      return call.writeAs(actor)(
        async (tx) => {
          await insertUpload(tx, upload);
          tx.note(workbook.id, uploadOpened(upload.id, upload.filename));
        },
        () => ({ status: 201, headers: { Location: `/api/v1/uploads/${upload.id}` }, body }),
      );
    },

    async getUpload({ principal, params }) {
      const { upload } = await openSlot(services, params.upload_id);
      await requireWorkbook(services, principal, upload.workbookId, 'viewer');
      return { status: 200, body: await present(services.db.orm, await describeSlot(services.db.orm, upload)) };
    },

    async putUpload(call) {
      checkSignature(services, call.params.upload_id, call.query.expires, call.query.sig);
      // The signature is all that the request has to show for itself: the slot says whose it is.
      const { upload, workbook } = await acrossAccounts(() => openSlot(services, call.params.upload_id));
      return inAccount(upload.accountId, () => fill(call, upload, workbook));
    },
  };
}
