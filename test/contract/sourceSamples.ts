import type { OperationId } from '../../api/http/contract.ts';
import type { components } from '../../schema/contract.ts';
import { makeId } from '../../store/services.ts';
import { ok } from '../setup/api.ts';
import { serveFile } from '../setup/fileServer.ts';
import { makeForm } from './forms.ts';
import type { MakeSample } from './sample.ts';
import type { World } from './world.ts';

type Schemas = components['schemas'];
type Upload = Schemas['Upload'];

/** A source in the world's workbook, of its own for every sample. */
export interface SampleSource {
  /** Its address. */
  path: string;
  tables: string[];
}

export interface SampleFile {
  name: string;
  content: string | Uint8Array;
}

/** Bytes that no other source has: `品目` text, `数` numbers. */
export const makeSampleFile = (): SampleFile => ({
  name: `${makeId('src').slice(-12)}.csv`,
  content: `品目,数\nりんご ${makeId('src')},1\nみかん,2\n`,
});

/** Who sends a file, and to which workbook. */
export type Sender = Pick<World, 'api' | 'workbook'> & { owner: { session: string } };

/** Staged unless the fields say otherwise. */
export async function makeSampleSource(
  { api, owner, workbook }: Sender,
  fields: Record<string, string> = { mode: 'staged' },
  file = makeSampleFile(),
): Promise<SampleSource> {
  const path = `/api/v1/workbooks/${workbook}/sources`;
  const answer = await api.fetch(path, { method: 'POST', token: owner.session, body: makeForm({ fields, files: [file] }) });
  if (answer.status !== 201) throw new Error(`the source was answered ${answer.status}: ${await answer.text()}`);
  const { source } = (await answer.json()) as Schemas['SourceUploadResponse'];
  return { path: `${path}/${encodeURIComponent(source.name)}`, tables: source.artifacts };
}

export async function makeAnalyzedSource(world: World): Promise<SampleSource & { spec: Schemas['ParseSpec'] }> {
  const source = await makeSampleSource(world);
  const answer = await world.api.fetch(`${source.path}/analyze`, { method: 'POST', token: world.owner.session });
  if (answer.status !== 200) throw new Error(`the analysis was answered ${answer.status}: ${await answer.text()}`);
  return { ...source, spec: (await answer.json()) as Schemas['ParseSpec'] };
}

export async function makeSlot({ owner, workbook }: World, filename = 'sales.csv'): Promise<Upload & { path: string }> {
  const params = { path: { workbook_id: workbook } };
  const slot = ok(await owner.client.POST('/api/v1/workbooks/{workbook_id}/uploads', { params, body: { filename } }));
  const { pathname, search } = new URL(slot.upload_url ?? '');
  return { ...slot, path: `${pathname}${search}` };
}

const onSource =
  (tail: string): MakeSample =>
  async (world) => ({ path: `${(await makeSampleSource(world)).path}${tail}` });

export const sourceSamples = {
  listSources: ({ workbook }) => ({ path: `/api/v1/workbooks/${workbook}/sources` }),
  uploadSource: ({ workbook }) => ({
    path: `/api/v1/workbooks/${workbook}/sources`,
    form: { fields: { structuring: 'skip' }, files: [makeSampleFile()] },
  }),
  ingestUrl: async ({ workbook }) => {
    const { name, content } = makeSampleFile();
    return {
      path: `/api/v1/workbooks/${workbook}/sources/from-url`,
      body: { url: await serveFile(name, content), structuring: 'skip' },
    };
  },
  getSource: onSource(''),
  downloadSource: onSource('/download'),
  previewSource: onSource('/preview?range=A1:B3'),
  analyzeSource: onSource('/analyze'),
  getParseSpec: async (world) => ({ path: `${(await makeAnalyzedSource(world)).path}/parse-spec` }),
  async putParseSpec(world) {
    const { path, spec } = await makeAnalyzedSource(world);
    return { path: `${path}/parse-spec`, body: spec };
  },
  async materializeSource(world) {
    const { path, spec } = await makeAnalyzedSource(world);
    return { path: `${path}/materialize`, body: { regions: [spec.regions[0]?.id] } };
  },
  async reviseSource(world) {
    const { path } = await makeSampleSource(world, { structuring: 'skip' });
    return { path: `${path}/revise`, form: { fields: { actor: '佐藤' }, files: [makeSampleFile()] } };
  },
  createUpload: ({ workbook }) => ({ path: `/api/v1/workbooks/${workbook}/uploads`, body: { filename: 'sales.csv' } }),
  getUpload: async (world) => ({ path: `/api/v1/uploads/${(await makeSlot(world)).upload_id}` }),
  putUpload: async (world) => ({
    path: (await makeSlot(world)).path,
    body: makeSampleFile().content,
    headers: { 'Content-Type': 'text/csv' },
    token: null,
  }),
  async getRowLineage(world) {
    const { tables } = await makeSampleSource(world, { structuring: 'skip' });
    return { path: `/api/v1/workbooks/${world.workbook}/tables/${encodeURIComponent(tables[0] ?? '')}/rows/1/lineage` };
  },
} satisfies Partial<Record<OperationId, MakeSample>>;
