import type { OperationId } from '../../api/http/contract.ts';
import type { components } from '../../schema/contract.ts';
import type { DriveItem } from '../setup/driveAccounts.ts';
import { putSampleFile, useSampleDrive } from './driveSamples.ts';
import { makeForm } from './forms.ts';
import type { MakeSample } from './sample.ts';
import { makeSampleFile, type SampleFile, type Sender } from './sourceSamples.ts';
import type { World } from './world.ts';

export const linksPath = ({ workbook }: Pick<World, 'workbook'>) => `/api/v1/workbooks/${workbook}/file-links`;

/** A tracked file in the world's workbook, of its own for every sample. */
export async function makeSampleLink(sender: Sender, file: SampleFile = makeSampleFile()): Promise<{ path: string; source: string }> {
  const body = makeForm({ fields: {}, files: [file] });
  const answer = await sender.api.fetch(`${linksPath(sender)}/local`, { method: 'POST', token: sender.owner.session, body });
  if (answer.status !== 201) throw new Error(`the link was answered ${answer.status}: ${await answer.text()}`);
  const { file_link: link } = (await answer.json()) as components['schemas']['FileLinkResult'];
  return { path: `${linksPath(sender)}/${link.id}`, source: link.source };
}

/** The same for a file on the owner's drive. */
export async function makeCloudLink(world: World): Promise<{ path: string; source: string; item: DriveItem }> {
  const { file_id, filename } = await putSampleFile(world);
  const answer = await world.api.fetch(linksPath(world), {
    method: 'POST',
    token: world.owner.session,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ provider: 'google_drive', file_id, filename }),
  });
  if (answer.status !== 201) throw new Error(`the link was answered ${answer.status}: ${await answer.text()}`);
  const { file_link: link } = (await answer.json()) as components['schemas']['FileLinkResult'];
  const item = (await useSampleDrive(world)).items.find(({ id }) => id === file_id) as DriveItem;
  return { path: `${linksPath(world)}/${link.id}`, source: link.source, item };
}

const onVersion =
  (tail: string): MakeSample =>
  async (world) => ({ path: `${(await makeSampleLink(world)).path}/versions/1/${tail}` });

export const linkSamples = {
  listFileLinks: (world) => ({ path: linksPath(world) }),
  async trackCloudFile(world) {
    const { file_id, filename } = await putSampleFile(world);
    return { path: linksPath(world), body: { provider: 'google_drive', file_id, filename } };
  },
  updateFileLink: async (world) => ({ path: (await makeCloudLink(world)).path, body: { every: 'daily' } }),
  syncFileLink: async (world) => ({ path: `${(await makeCloudLink(world)).path}/sync` }),
  trackLocalFile: (world) => ({ path: `${linksPath(world)}/local`, form: { fields: {}, files: [makeSampleFile()] } }),
  pushFileLinkVersion: async (world) => ({
    path: `${(await makeSampleLink(world)).path}/versions`,
    form: { fields: { modified_by: '佐藤', modified_time: '2025-06-14T05:00:00Z' }, files: [makeSampleFile()] },
  }),
  getFileLinkCells: onVersion('cells'),
  diffFileLinkVersions: onVersion('diff'),
  downloadFileLinkVersion: onVersion('download'),
  revertFileLinkVersion: onVersion('revert'),
} satisfies Partial<Record<OperationId, MakeSample>>;
