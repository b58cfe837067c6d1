import type { Principal } from '../../core/access/principal.ts';
import { checkConfig } from '../../core/charts/checkConfig.ts';
import { findChartType, findTitle } from '../../core/charts/describeConfig.ts';
import { DomainError, describeFirst } from '../../core/errors.ts';
import { chartPut } from '../../core/journal/chartNotes.ts';
import { requireName } from '../../core/names.ts';
import type { ChartCheck } from '../../store/charts/requests.ts';
import { type ChartRecord, upsertChart } from '../../store/pg/charts.ts';
import { type Actor, commit } from '../../store/pg/commit.ts';
import { makeId, type Services } from '../../store/services.ts';
import { requireNamedTable } from '../tables/requireNamedTable.ts';
import { requireFreeName } from '../tables/takenNames.ts';
import { withChartInput } from './withChartInput.ts';

export interface WantedChart {
  workbookId: string;
  name: string;
  table: string;
  title: string | null;
  /** Vega-Lite. */
  config: Record<string, unknown>;
}

export interface CreatedChart extends ChartCheck {
  chart: ChartRecord;
  isNew: boolean;
}

/** Creates a chart, or replaces the one with the name. It is drawn once before it is stored, so that what is stored can be drawn. */
export async function createChart(services: Services, principal: Principal, actor: Actor, wanted: WantedChart): Promise<CreatedChart> {
  const { config } = wanted;
  const name = requireName(wanted.name, '/name');
  const faults = checkConfig(config);
  if (faults.length > 0)
    throw new DomainError(
      'validation-failed',
      describeFirst(faults),
      'Send a Vega-Lite config without data: the rows come from the table.',
      {
        errors: faults,
      },
    );
  const at = await requireNamedTable(services, principal, { workbook_id: wanted.workbookId, name: wanted.table }, 'editor');
  const { warnings } = await withChartInput(
    services,
    principal,
    { config, table: at },
    async (process, input) => (await process.ask({ op: 'check', ...input } as { op: string })) as ChartCheck,
  );
  const { id: tableId, workbookId, accountId, name: tableName } = at.table;
  const title = wanted.title ?? findTitle(config);
  const { result } = await commit(services, actor, async (tx) => {
    await requireFreeName(tx, workbookId, name, 'chart');
    const recipe = { tool: 'create_chart', table: tableName, ...(wanted.title === null ? {} : { title: wanted.title }) };
    const made = { id: makeId('cht'), workbookId, accountId, name, chartType: findChartType(config), tableId, title, config, recipe };
    const put = await upsertChart(tx, made);
    tx.note(workbookId, chartPut(put.chart, tableName));
    return put;
  });
  return { chart: { ...result.chart, tableName }, isNew: result.isNew, warnings };
}
