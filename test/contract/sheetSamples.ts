import type { OperationId } from '../../api/http/contract.ts';
import { makeChart } from '../setup/charts.ts';
import type { MakeSample } from './sample.ts';
import { makeSampleTable } from './tableSamples.ts';
import type { World } from './world.ts';

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

async function makeSampleChart(world: World): Promise<string> {
  const { workbook, name } = await makeSampleTable(world);
  const config = { mark: 'bar', encoding: { x: { field: '品目', type: 'nominal' }, y: { aggregate: 'count' } } };
  const wanted = { workbookId: workbook.split('/').at(-1) ?? '', name: `${name} 図`, table: name, config };
  await makeChart(world.api, world.owner.session, wanted);
  return `${workbook}/charts/${encodeURIComponent(wanted.name)}`;
}

export const sheetSamples = {
  listSheets: async (world) => ({ path: (await makeSampleSheet(world)).replace(/\/[^/]*$/, '') }),
  getSheet: async (world) => ({ path: await makeSampleSheet(world) }),
  putSheet: planSampleSheet,
  deleteSheet: async (world) => ({ path: await makeSampleSheet(world) }),
  renderSheet: async (world) => ({ path: `${await makeSampleSheet(world)}/render` }),
  listCharts: ({ workbook }) => ({ path: `/api/v1/workbooks/${workbook}/charts` }),
  renderChart: async (world) => ({ path: `${await makeSampleChart(world)}/svg` }),
  renderChartPng: async (world) => ({ path: `${await makeSampleChart(world)}/png` }),
} satisfies Partial<Record<OperationId, MakeSample>>;
