import { nearestName } from '../../core/cells/nearestName.ts';
import { notFound } from '../../core/errors.ts';
import { type ChartRecord, findChart, listCharts } from '../../store/pg/charts.ts';
import type { Services } from '../../store/services.ts';

export async function requireChart(services: Services, workbookId: string, name: string): Promise<ChartRecord> {
  const found = await findChart(services.db.orm, workbookId, name);
  if (found) return found;
  const names = (await listCharts(services.db.orm, workbookId, null, 1000)).map((chart) => chart.name);
  const near = nearestName(name, names);
  throw notFound('chart in this workbook', near ? `Did you mean ${near}?` : 'GET …/charts lists the charts of the workbook.');
}
