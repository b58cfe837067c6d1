import type { OperationId } from '../../api/http/contract.ts';
import { ok } from '../setup/api.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import type { MakeSample } from './sample.ts';
import { makeSampleTable, type SampleTable } from './tableSamples.ts';
import type { World } from './world.ts';

const base = '/api/v1/workbooks/{workbook_id}' as const;
const column = encodeURIComponent('数');

/** A table with a tagged column. No rule is set: it would hold for all of the world's workbook. */
async function makeTaggedTable(world: World): Promise<SampleTable> {
  const made = await makeSampleTable(world);
  ok(
    await world.owner.client.POST(`${base}/artifacts/{name}/columns/{column}/tags`, {
      params: { path: { workbook_id: world.workbook, name: made.name, column: '数' } },
      body: { tag: 'pii' },
    }),
  );
  return made;
}

/** The rules of a workbook of its own. */
async function makeRules({ owner, team }: World, rules: number): Promise<string> {
  const workbook = await makeWorkbook(owner.client, 'Governed', team);
  if (rules > 0)
    ok(
      await owner.client.PUT(`${base}/policies/{tag}`, {
        params: { path: { workbook_id: workbook, tag: 'pii' } },
        body: { effect: 'mask', actor: '佐藤' },
      }),
    );
  return `/api/v1/workbooks/${workbook}/policies`;
}

const sheet = { actor: '佐藤', external_kind: 'google_sheets', direction: 'push', ownership_map: { 数: 'external' } } as const;

/** A table that is bound to a sheet of its own. */
export async function makeBinding(world: World): Promise<SampleTable & { id: string; ref: string }> {
  const made = await makeSampleTable(world);
  const params = { path: { workbook_id: world.workbook, name: made.name } };
  const bound = ok(
    await world.owner.client.POST(`${base}/artifacts/{name}/sync-bindings`, { params, body: { ...sheet, external_ref: made.name } }),
  );
  return { ...made, id: bound.id, ref: made.name };
}

export const governanceSamples = {
  listSyncBindings: async (world) => ({ path: `${(await makeBinding(world)).artifact}/sync-bindings` }),
  bindSheet: async (world) => {
    const { artifact, name } = await makeSampleTable(world);
    return { path: `${artifact}/sync-bindings`, body: { ...sheet, external_ref: name } };
  },
  unbindSheet: async (world) => {
    const { artifact, id } = await makeBinding(world);
    return { path: `${artifact}/sync-bindings/${id}` };
  },
  tagColumn: async (world) => ({
    path: `${(await makeSampleTable(world)).artifact}/columns/${column}/tags`,
    body: { tag: 'pii', actor: '佐藤' },
  }),
  untagColumn: async (world) => ({ path: `${(await makeTaggedTable(world)).artifact}/columns/${column}/tags/pii` }),
  listClassifications: async (world) => ({ path: `${(await makeTaggedTable(world)).workbook}/classifications` }),
  listPolicies: async (world) => ({ path: await makeRules(world, 1) }),
  setPolicy: async (world) => ({ path: `${await makeRules(world, 0)}/pii`, body: { role: '経理', effect: 'deny', actor: '佐藤' } }),
  deletePolicy: async (world) => ({ path: `${await makeRules(world, 1)}/pii` }),
  previewAccess: async (world) => ({ path: `${(await makeTaggedTable(world)).table}/access?role=viewer&role=x` }),
} satisfies Partial<Record<OperationId, MakeSample>>;
