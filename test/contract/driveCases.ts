import { writeState } from '../../activities/drives/driveState.ts';
import type { OperationId } from '../../api/http/contract.ts';
import type { ProblemCode } from '../../core/errors.ts';
import { putSampleFile } from './driveSamples.ts';
import type { Case } from './genericCases.ts';
import { occupy } from './sourceCases.ts';
import { makeSampleSource } from './sourceSamples.ts';
import { altered, body } from './tableCases.ts';
import { unknownId } from './world.ts';

const withPath = (change: (path: string) => string): Case => altered(({ path }) => ({ path: change(path) }));

export const driveCases: Partial<Record<OperationId, Partial<Record<ProblemCode, Case>>>> = {
  getDriveAuthorization: {
    'not-found': withPath((path) => `${path}?workbook_id=${unknownId('wb')}`),
    'outside-reach': altered(({ path }, { workbook, pinnedKey }) => ({ path: `${path}?workbook_id=${workbook}`, token: pinnedKey })),
  },
  listCloudFiles: {
    'not-found': withPath((path) => `${path}?folder_id=nowhere`),
    'outside-reach': altered((_, { stranger }) => ({ token: stranger.session })),
  },
  finishDriveAuthorization: {
    'bad-signature': withPath((path) => path.replace(/state=[^&]+/, 'state=forged')),
    expired: altered(({ path }, { api, owner, accountId }) => {
      const who = { userId: owner.userId, accountId, credentialId: 'none', provider: 'onedrive' as const };
      const state = writeState(api.services, { ...who, verifier: 'v', workbookId: null, begunAt: Date.now() - 3_600_001 });
      return { path: path.replace(/state=[^&]+/, `state=${state}`) };
    }),
    'validation-failed': withPath((path) => path.replace(/code=[^&]+/, 'code=')),
  },
  importCloudFile: {
    'not-found': body({ file_id: 'nowhere' }),
    'in-use': altered(async (sample, world) => {
      const { content, ...file } = await putSampleFile(world);
      await occupy(world, (await makeSampleSource(world, { mode: 'staged' }, { name: file.filename, content })).path);
      return { body: { ...(sample.body as object), ...file } };
    }),
  },
};
