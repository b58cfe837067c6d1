import { requireWorkbook } from '../../activities/access.ts';
import { importDriveFile } from '../../activities/drives/importDriveFile.ts';
import { receiveUrl, withoutQuery } from '../../activities/sources/receiveUrl.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { answerArrival, checkWanted } from './answerArrival.ts';

/** Sources whose bytes the service fetches itself. */
export function makeRemoteSourceHandlers({ services }: ApiParts): Handlers<'ingestUrl' | 'importCloudFile'> {
  return {
    async ingestUrl(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      checkWanted(call.body);
      const file = await receiveUrl(services, call.principal.userId, workbook, call.body, call.abandoned);
      return answerArrival(services, call, file, call.body, { kind: 'url', url: withoutQuery(call.body.url) });
    },

    async importCloudFile(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { provider, file_id: fileId, filename } = call.body;
      const file = await importDriveFile(services, call.principal, workbook, { provider, fileId, filename, signal: call.abandoned });
      return answerArrival(services, call, file, {}, { kind: 'cloud', provider, file_id: fileId });
    },
  };
}
