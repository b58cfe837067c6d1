import { requireWorkbook } from '../../activities/access.ts';
import { pageCharts } from '../../activities/charts/pageCharts.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentChart } from '../presenters/charts.ts';

export function makeChartHandlers({ services }: ApiParts): Handlers<'listCharts'> {
  return {
    async listCharts({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = await pageCharts(services, workbook.id, query);
      return { status: 200, body: { charts: page.items.map(presentChart), next_cursor: page.nextCursor } };
    },
  };
}
