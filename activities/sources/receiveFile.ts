import { extname } from 'node:path';
import { DomainError } from '../../core/errors.ts';
import { findUnseenFault } from '../../core/names.ts';
import { isDots } from '../../core/table/nameFaults.ts';
import { sourcesPrefix } from '../../store/blobs/keys.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { withRoom } from '../storage/withRoom.ts';
import { recogniseFile } from './recogniseFile.ts';
import type { Arrival } from './registerSource.ts';

const longestName = 400;

/** The file name without folders and control characters. Refuses names that a URL cannot hold. */
export function cleanFilename(given: string, pointer: string): string {
  const name = (given.replaceAll('\\', '/').split('/').at(-1) ?? '').replace(/\p{Cc}+/gu, ' ');
  const why =
    name.trim() === '' || isDots(name)
      ? 'has no file name'
      : name.length > longestName
        ? `has a name longer than ${longestName} characters`
        : findUnseenFault(name);
  if (why === null) return name;
  throw new DomainError('validation-failed', `${pointer}: ${why}.`, 'Send the file with its name, extension included.', {
    errors: [{ pointer, detail: why }],
  });
}

/** Recognises the file and, if its format is supported, stores the bytes, when it is the user's turn. */
export async function receiveFile(
  services: Services,
  userId: string,
  workbook: Pick<VisibleWorkbook, 'id' | 'accountId'>,
  sent: { path: string; filename: string; size: number; sha256: string },
): Promise<Pick<Arrival, 'workbook' | 'filename' | 'blobKey' | 'size' | 'sha256' | 'format' | 'contentType'>> {
  const filename = cleanFilename(sent.filename, '/file');
  const extension = extname(filename).slice(1).toLowerCase();
  return services.intake.run(userId, async () => {
    const recognised = await recogniseFile(sent.path, filename);
    const put = () => services.blobs.put(sourcesPrefix(workbook), sent.path, extension.replace(/[^a-z0-9]/g, '') || 'bin');
    const { key } = await withRoom(services, workbook.accountId, sent.size, put);
    return { workbook, filename, blobKey: key, size: sent.size, sha256: sent.sha256, ...recognised };
  });
}
