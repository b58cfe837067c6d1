import { requireWorkbook } from '../../activities/access.ts';
import { describeEmptySlot, describeSlot } from '../../activities/uploads/describeSlot.ts';
import { openUpload, planUpload } from '../../activities/uploads/openUpload.ts';
import { receiveUpload, slotActor } from '../../activities/uploads/receiveUpload.ts';
import { requireOpener } from '../../activities/uploads/requireOpener.ts';
import { requireSlot, withSignedSlot } from '../../activities/uploads/requireSlot.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentSlot } from '../presenters/uploads.ts';

export function makeUploadHandlers({ services }: ApiParts): Handlers<'createUpload' | 'getUpload' | 'putUpload'> {
  return {
    async createUpload(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const wanted = { ...call.body, contentType: call.body.content_type ?? null };
      const upload = planUpload(workbook, call.principal, call.actor(), wanted);
      return call.write(
        (tx) => openUpload(tx, upload),
        () => ({
          status: 201,
          headers: { Location: `/api/v1/uploads/${upload.id}` },
          body: presentSlot(describeEmptySlot(services, upload)),
        }),
      );
    },

    async getUpload({ principal, params }) {
      const { upload } = await requireSlot(services, params.upload_id);
      await requireWorkbook(services, principal, upload.workbookId, 'viewer');
      const slot = await describeSlot(services, services.db.orm, upload);
      // The address of an empty slot is signed.
      return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: presentSlot(slot) };
    },

    async putUpload(call) {
      const signed = { uploadId: call.params.upload_id, expires: call.query.expires, sig: call.query.sig };
      return withSignedSlot(services, signed, async (slot) => {
        await requireOpener(services, slot);
        const sent = await call.saveBody(slot.upload.filename);
        const write = call.writeAs(slotActor(slot.upload, call.requestId));
        return receiveUpload(services, write, slot, sent, (filled) => ({ status: 200, body: presentSlot(filled) }));
      });
    },
  };
}
