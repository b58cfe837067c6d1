import { requireScopes, requireWorkbook } from '../../../activities/access.ts';
import { createChart } from '../../../activities/charts/createChart.ts';
import { removeChart } from '../../../activities/charts/removeChart.ts';
import { presentChart } from '../../presenters/charts.ts';
import { fitPage } from '../pages.ts';
import { cursor, limit, list, nextCursor, paramsOf, readsOnly, shape, type Tool, table, text, workbookId } from '../tool.ts';

const name = text('Name of the chart.', { minLength: 1, maxLength: 200 });

/** Charts are made and deleted by these tools only; everything else about them is an operation of the contract. */
export const chartTools: Tool[] = [
  {
    name: 'list_charts',
    title: 'List charts',
    description: 'Charts of a workbook with their Vega-Lite config.',
    input: { workbook_id: workbookId, cursor, limit: limit(20, 100) },
    required: ['workbook_id'],
    output: shape({ charts: list('The page.', { type: 'object' }), next_cursor: nextCursor }),
    annotations: readsOnly,
    async run({ ask }, { workbook_id, limit: most = 20, ...query }) {
      return fitPage(Number(most), async (charts) => {
        const { body } = await ask('listCharts', { params: paramsOf({ workbook_id }), query: { ...query, limit: charts } });
        return body as Record<string, unknown>;
      });
    },
  },
  {
    name: 'create_chart',
    title: 'Create a chart',
    description:
      'Makes a chart of a table from a Vega-Lite config, or replaces the one with the name. The config has no data: fields are columns of the table (escape dots and brackets in names with a backslash). Tables of more than 100,000 rows must be aggregated first. draw_chart shows it.',
    input: {
      workbook_id: workbookId,
      name,
      table,
      config: {
        type: 'object',
        description:
          'Vega-Lite, for instance {"mark": "bar", "encoding": {"x": {"field": "月", "type": "ordinal"}, "y": {"field": "売上", "type": "quantitative"}}}.',
      },
      title: text('Title; that of the config if left out.', { minLength: 1, maxLength: 400 }),
    },
    required: ['workbook_id', 'name', 'table', 'config'],
    output: shape({
      chart: shape({ name: text('Name.') }),
      created: { type: 'boolean', description: 'False: it replaced the one with the name.' },
      warnings: list('What Vega-Lite has left out.', { type: 'string' }),
    }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    async run({ services, principal, actor }, given) {
      requireScopes(principal, ['workbooks:write']);
      const { chart, isNew, warnings } = await createChart(services, principal, actor, {
        workbookId: String(given.workbook_id),
        name: String(given.name),
        table: String(given.table),
        title: (given.title as string | undefined) ?? null,
        config: given.config as Record<string, unknown>,
      });
      return { chart: presentChart({ chart, isGoverned: false }), created: isNew, warnings };
    },
  },
  {
    name: 'delete_chart',
    title: 'Delete a chart',
    description: 'Deletes a chart and no data.',
    input: { workbook_id: workbookId, name },
    required: ['workbook_id', 'name'],
    output: shape({ deleted: text('Name of the chart.') }),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    async run({ services, principal, actor }, { workbook_id, name: given }) {
      requireScopes(principal, ['workbooks:write']);
      const workbook = await requireWorkbook(services, principal, String(workbook_id), 'editor');
      await removeChart(services, actor, workbook.id, String(given));
      return { deleted: String(given) };
    },
  },
  {
    name: 'draw_chart',
    title: 'Draw a chart',
    description: 'A picture (PNG) of a chart over the rows that its table has now.',
    input: { workbook_id: workbookId, name },
    required: ['workbook_id', 'name'],
    output: null,
    annotations: readsOnly,
    async run({ ask }, { workbook_id, name: given }) {
      const { body } = await ask('renderChartPng', { params: { workbook_id: String(workbook_id), name: String(given) } });
      return { png: body as Buffer };
    },
  },
];
