import type { MakeSample } from './sample.ts';
import { makeSampleTable } from './tableSamples.ts';
import type { ImplementedOperation, World } from './world.ts';

/** A sheet over a table of its own, which is not stored yet. */
async function planSampleSheet(world: World) {
  const { workbook, name } = await makeSampleTable(world);
  const blocks = [
    { kind: 'heading', text: '報告' },
    { kind: 'table_view', table: name, columns: ['品目'], limit: 10, title: '明細' },
  ];
  return { path: `${workbook}/sheets/${encodeURIComponent(`${name} 報告`)}`, body: { title: '報告', spec: { blocks } } };
}

async function makeSampleSheet(world: World): Promise<string> {
  const { path, body } = await planSampleSheet(world);
  const headers = { 'Content-Type': 'application/json' };
  const answer = await world.api.fetch(path, { method: 'PUT', token: world.owner.session, headers, body: JSON.stringify(body) });
  if (answer.status !== 201) throw new Error(`a sample sheet was answered ${answer.status}: ${await answer.text()}`);
  return path;
}

export const sheetSamples = {
  listSheets: async (world) => ({ path: (await makeSampleSheet(world)).replace(/\/[^/]*$/, '') }),
  getSheet: async (world) => ({ path: await makeSampleSheet(world) }),
  putSheet: planSampleSheet,
  deleteSheet: async (world) => ({ path: await makeSampleSheet(world) }),
  renderSheet: async (world) => ({ path: `${await makeSampleSheet(world)}/render` }),
  listCharts: ({ workbook }) => ({ path: `/api/v1/workbooks/${workbook}/charts` }),
} satisfies Partial<Record<ImplementedOperation, MakeSample>>;
