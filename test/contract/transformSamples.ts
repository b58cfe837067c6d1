import type { OperationId } from '../../api/http/contract.ts';
import { ok } from '../setup/api.ts';
import type { MakeSample } from './sample.ts';
import { makeSampleTable, type SampleTable } from './tableSamples.ts';
import type { World } from './world.ts';

const base = '/api/v1/workbooks/{workbook_id}/transforms' as const;

export interface SampleTransform extends SampleTable {
  output: string;
  transform: string;
  body: { name: string; language: 'sql'; template: string; args: Record<string, string>; key: string[] };
}

/** A transform of a table of its own, which is not made yet. */
export async function planSampleTransform(world: World): Promise<SampleTransform> {
  const made = await makeSampleTable(world);
  const output = `${made.name} 集計`;
  return {
    ...made,
    output,
    transform: `${made.workbook}/transforms/${encodeURIComponent(output)}`,
    body: {
      name: output,
      language: 'sql',
      template: 'SELECT 品目, sum(数) AS 合計 FROM {{ detail }} GROUP BY 品目',
      args: { detail: made.name },
      key: ['品目'],
    },
  };
}

/** The same, made and run. */
export async function makeSampleTransform(world: World): Promise<SampleTransform> {
  const planned = await planSampleTransform(world);
  ok(await world.owner.client.POST(base, { params: { path: { workbook_id: world.workbook } }, body: planned.body }));
  return planned;
}

export const transformSamples = {
  listTransforms: ({ workbook }) => ({ path: `/api/v1/workbooks/${workbook}/transforms` }),
  async createTransform(world) {
    const { workbook, body } = await planSampleTransform(world);
    return { path: `${workbook}/transforms`, body };
  },
  getTransform: async (world) => ({ path: (await makeSampleTransform(world)).transform }),
  deleteTransform: async (world) => ({ path: `${(await makeSampleTransform(world)).transform}?expected_version=1` }),
  recomputeWorkbook: ({ workbook }) => ({ path: `/api/v1/workbooks/${workbook}/recompute` }),
  async reviewWorkbook(world) {
    const { workbook, name } = await makeSampleTable(world);
    return { path: `${workbook}/review`, body: { target: name, save: true } };
  },
  runTransform: async (world) => ({ path: `${(await makeSampleTransform(world)).transform}/run`, body: {} }),
} satisfies Partial<Record<OperationId, MakeSample>>;
