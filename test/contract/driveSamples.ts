import { randomUUID } from 'node:crypto';
import type { OperationId } from '../../api/http/contract.ts';
import { beginConnection, connectDrive } from '../setup/connectDrive.ts';
import { makeAccount } from '../setup/driveAccounts.ts';
import type { MakeSample } from './sample.ts';
import { makeSampleFile } from './sourceSamples.ts';
import type { World } from './world.ts';

const accounts = new WeakMap<World, Promise<ReturnType<typeof makeAccount>>>();

/** The owner's Google Drive, which the service may read. */
export function useSampleDrive(world: World): Promise<ReturnType<typeof makeAccount>> {
  const known = accounts.get(world) ?? connectSampleDrive(world);
  accounts.set(world, known);
  return known;
}

async function connectSampleDrive({ api, owner }: World) {
  const account = makeAccount([{ id: 'folder', name: '決算', parent: 'root', isFolder: true }]);
  await connectDrive(api, owner.session, 'google_drive', account);
  return account;
}

/** A file on it that no other sample imports. */
export async function putSampleFile(world: World): Promise<{ file_id: string; filename: string; content: string }> {
  const { name, content } = makeSampleFile();
  const file = { id: randomUUID(), name, parent: 'folder', content };
  (await useSampleDrive(world)).items.push(file);
  return { file_id: file.id, filename: name, content: content as string };
}

export const driveSamples = {
  getDriveAuthorization: () => ({ path: '/api/v1/me/authorize/onedrive' }),
  async listCloudFiles(world) {
    await useSampleDrive(world);
    return { path: '/api/v1/cloud-files/google_drive' };
  },
  async importCloudFile(world) {
    const { file_id, filename } = await putSampleFile(world);
    return { path: `/api/v1/workbooks/${world.workbook}/sources/cloud`, body: { provider: 'google_drive', file_id, filename } };
  },
  async finishDriveAuthorization({ api }) {
    const { session } = await api.signUp();
    return { path: await beginConnection(api, session, 'onedrive', makeAccount()), token: null };
  },
} satisfies Partial<Record<OperationId, MakeSample>>;
