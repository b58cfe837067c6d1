import { describeAuthorization } from '../../activities/drives/describeAuthorization.ts';
import { finishAuthorization } from '../../activities/drives/finishAuthorization.ts';
import { listDriveFiles } from '../../activities/drives/listDriveFiles.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { makeAuthorizationPage } from '../pages/drives.ts';
import { presentAuthorization, presentDriveFile } from '../presenters/drives.ts';

type DriveOperations = 'getDriveAuthorization' | 'listCloudFiles' | 'finishDriveAuthorization';

export function makeDriveHandlers({ services }: ApiParts): Handlers<DriveOperations> {
  return {
    async getDriveAuthorization({ principal, params, query }) {
      const asked = { provider: params.provider, workbookId: query.workbook_id ?? null };
      const authorization = await describeAuthorization(services, principal, asked);
      // Whoever has the address can finish the authorization.
      return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: presentAuthorization(authorization) };
    },

    async listCloudFiles({ principal, params, query }) {
      const { provider } = params;
      const { folder_id: folderId = 'root', q, cursor, limit = 100 } = query;
      const { files, next } = await listDriveFiles(services, principal, { provider, folderId, q, cursor, limit });
      return { status: 200, body: { files: files.map(presentDriveFile), provider, folder_id: folderId, next_cursor: next } };
    },

    async finishDriveAuthorization({ params, query, requestId }) {
      const { state, code, error } = query;
      const finished = await finishAuthorization(services, { provider: params.provider, state, code, error, requestId });
      const { headers, raw } = makeAuthorizationPage(finished);
      return { status: 200, headers: { ...headers, 'Cache-Control': 'no-store' }, raw };
    },
  };
}
