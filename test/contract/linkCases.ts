import type { OperationId } from '../../api/http/contract.ts';
import type { ProblemCode } from '../../core/errors.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { putSampleFile } from './driveSamples.ts';
import type { Case } from './genericCases.ts';
import { linkSamples, makeCloudLink, makeSampleLink } from './linkSamples.ts';
import { findPoorOwner, spendCredits } from './sourceCases.ts';
import { makeSampleFile, makeSampleSource } from './sourceSamples.ts';
import { altered, governed } from './tableCases.ts';
import { makeJob, type World } from './world.ts';

/** Somebody's work on the source goes on and on. */
async function occupy({ api, accountId, owner, workbook }: World, source: string): Promise<void> {
  const job = await makeJob(api, { accountId, userId: owner.userId, workbookId: workbook, kind: 'analyze' });
  await api.sql.query('UPDATE sources SET job_id = $1 WHERE workbook_id = $2 AND name = $3', [job, workbook, source]);
}

const busy = (tail: string): Case =>
  altered(async (sample, world) => {
    const { path, source } = await makeSampleLink(world);
    await occupy(world, source);
    return { ...sample, path: `${path}/${tail}` };
  });

const localPath = async (world: World) => (await makeSampleLink(world)).path;

const parquet: Case = altered(() => ({ form: { fields: {}, files: [{ name: 'rows.ndjson', content: '{"a": 1}\n' }] } }));

export const linkCases: Partial<Record<OperationId, Partial<Record<ProblemCode, Case>>>> = {
  trackLocalFile: {
    'name-taken': altered(async (_, world) => {
      const file = makeSampleFile();
      await makeSampleLink(world, file);
      return { form: { fields: {}, files: [file] } };
    }),
    'in-use': altered(async (_, world) => {
      const file = makeSampleFile();
      await makeSampleSource(world, { mode: 'staged' }, file);
      await occupy(world, file.name);
      return { form: { fields: {}, files: [file] } };
    }),
    'out-of-credits': altered(async (_, world) => {
      const { session, source } = await findPoorOwner(world);
      const name = decodeURIComponent(source.split('/').at(-1) ?? '');
      const form = { fields: { on_existing: 'replace' }, files: [{ ...makeSampleFile(), name }] };
      return { path: source.replace(/\/sources\/.*/, '/file-links/local'), token: session, form };
    }),
    'unsupported-media': parquet,
  },
  trackCloudFile: {
    'name-taken': altered(async (sample, world) => {
      const { source, item } = await makeCloudLink(world);
      return { ...sample, body: { provider: 'google_drive', file_id: item.id, filename: source } };
    }),
    'in-use': altered(async (sample, world) => {
      const { file_id, filename, content } = await putSampleFile(world);
      await makeSampleSource(world, { mode: 'staged' }, { name: filename, content });
      await occupy(world, filename);
      return { ...sample, body: { provider: 'google_drive', file_id, filename } };
    }),
    'unsupported-media': altered(({ body }) => ({ body: { ...(body as object), filename: 'rows.ndjson' } })),
  },
  updateFileLink: { 'in-use': altered(async (_, world) => ({ path: await localPath(world) })) },
  syncFileLink: {
    'in-use': altered(async (_, world) => ({ path: `${await localPath(world)}/sync` })),
    'out-of-credits': altered(async (_, world) => {
      const person = await world.api.signUp('Poor');
      const theirs = { ...world, owner: person, workbook: await makeWorkbook(person.client, 'Spent') };
      const { path, item } = await makeCloudLink(theirs);
      await spendCredits(world.api, person);
      item.content = makeSampleFile().content;
      return { path: `${path}/sync`, token: person.session };
    }),
    'unsupported-media': altered(async (_, world) => {
      const { path, item } = await makeCloudLink(world);
      item.mimeType = 'application/vnd.google-apps.document';
      return { path: `${path}/sync` };
    }),
  },
  pushFileLinkVersion: {
    'in-use': busy('versions'),
    'out-of-credits': altered(async (sample, world) => {
      const { session, link } = await findPoorOwner(world);
      return { ...sample, path: `${link}/versions`, token: session };
    }),
    'unsupported-media': parquet,
  },
  revertFileLinkVersion: { 'in-use': busy('versions/1/revert') },
  getFileLinkCells: { 'governed-workbook': governed(linkSamples.getFileLinkCells) },
  diffFileLinkVersions: { 'governed-workbook': governed(linkSamples.diffFileLinkVersions) },
  downloadFileLinkVersion: { 'governed-workbook': governed(linkSamples.downloadFileLinkVersion) },
};
