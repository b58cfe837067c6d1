import { open, rm } from 'node:fs/promises';
import { DomainError } from '../../core/errors.ts';
import { nameDownload } from '../../core/outbound/nameDownload.ts';
import { OutboundFailure } from '../../store/outbound/outboundFailure.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { requireRoom } from '../storage/withRoom.ts';
import { receiveFile } from './receiveFile.ts';
import { fileTooLarge, mostFileBytes, saveDraft } from './saveDraft.ts';

const timeoutMs = 120_000;

/** Fetches what a user's address answers with, and stores it as a file that was sent. */
export async function receiveUrl(
  services: Services,
  userId: string,
  workbook: Pick<VisibleWorkbook, 'id' | 'accountId'>,
  { url, filename }: { url: string; filename?: string | null },
  signal: AbortSignal,
): Promise<Awaited<ReturnType<typeof receiveFile>>> {
  await requireRoom(services, workbook.accountId, 1);
  const { draft, headers } = await download(services, url, signal);
  try {
    const { 'content-disposition': disposition, 'content-type': contentType } = headers;
    const name = filename ?? nameDownload({ url: new URL(url), disposition, contentType, head: await readHead(draft.path) });
    return await receiveFile(services, userId, workbook, { ...draft, filename: name });
  } finally {
    await rm(draft.path, { force: true });
  }
}

/** As it is remembered: queries often hold secrets. */
export function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

async function download({ outbound, blobs }: Services, url: string, signal: AbortSignal) {
  try {
    const { status, headers, body } = await outbound.request(url, { timeoutMs, mostBytes: mostFileBytes, signal });
    if (status !== 200) {
      body.destroy();
      throw refuseAnswer(status);
    }
    if (Number(headers['content-length'] ?? 0) > mostFileBytes) {
      body.destroy();
      throw fileTooLarge();
    }
    return { headers, draft: await saveDraft(body, () => blobs.draft()) };
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error;
    if (error.reason === 'too-large') throw fileTooLarge();
    const fix = 'Check that the address answers from the public internet, or download the file and upload it.';
    throw new DomainError('url-refused', `Nothing could be fetched: ${error.message}.`, fix, { cause: error });
  }
}

function refuseAnswer(status: number): DomainError {
  if (status >= 300 && status < 400)
    return new DomainError(
      'url-refused',
      'The address redirects elsewhere, which is not followed.',
      'Send the address of the file itself.',
    );
  const fix = 'Send an address that answers anybody with the file itself.';
  return new DomainError('url-refused', `The address answered with the status ${status}.`, fix);
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
