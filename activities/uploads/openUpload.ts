import type { Principal } from '../../core/access/principal.ts';
import { uploadOpened } from '../../core/journal/sourceNotes.ts';
import type { Actor, Tx } from '../../store/pg/commit.ts';
import { insertUpload, type UploadRecord } from '../../store/pg/uploads.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { makeId } from '../../store/services.ts';
import { cleanFilename } from '../sources/receiveFile.ts';

const openMs = 3_600_000;

export interface UploadWanted {
  filename: string;
  contentType: string | null;
  mode?: UploadRecord['mode'];
  structuring?: UploadRecord['structuring'] | null;
}

/** A slot that lets somebody else send a file, in the name of who opens it. */
export function planUpload(workbook: VisibleWorkbook, principal: Principal, actor: Actor, wanted: UploadWanted): UploadRecord {
  const now = Date.now();
  return {
    id: makeId('upl'),
    workbookId: workbook.id,
    accountId: workbook.accountId,
    userId: principal.userId,
    actorName: actor.name,
    credential: actor.credential,
    filename: cleanFilename(wanted.filename, '/filename'),
    contentType: wanted.contentType,
    mode: wanted.mode ?? 'auto',
    structuring: wanted.structuring ?? 'auto',
    sha256: null,
    jobId: null,
    sourceId: null,
    createdAt: new Date(now),
    // Whole seconds, as they are part of the URL.
    expiresAt: new Date(Math.floor((now + openMs) / 1000) * 1000),
  };
}

export async function openUpload(tx: Tx, upload: UploadRecord): Promise<void> {
  await insertUpload(tx, upload);
  tx.note(upload.workbookId, uploadOpened(upload.id, upload.filename));
}
