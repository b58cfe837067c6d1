import { requireWorkbook } from '../../activities/access.ts';
import { drawChart } from '../../activities/charts/drawChart.ts';
import { pageCharts } from '../../activities/charts/pageCharts.ts';
import type { Call, Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentChart } from '../presenters/charts.ts';

export function makeChartHandlers({ services }: ApiParts): Handlers<'listCharts' | 'renderChart' | 'renderChartPng'> {
  const draw = async (
    { principal, params, abandoned }: Pick<Call<'renderChart'>, 'principal' | 'params' | 'abandoned'>,
    as: 'svg' | 'png',
  ) => {
    const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
    return drawChart(services, principal, { workbookId: workbook.id, name: params.name, as }, abandoned);
  };
  return {
    async listCharts({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = await pageCharts(services, workbook.id, query);
      return { status: 200, body: { charts: page.items.map(presentChart), next_cursor: page.nextCursor } };
    },

    async renderChart(call) {
      return { status: 200, raw: { type: 'image/svg+xml', data: await draw(call, 'svg') } };
    },

    async renderChartPng(call) {
      return { status: 200, raw: { type: 'image/png', data: await draw(call, 'png') } };
    },
  };
}
