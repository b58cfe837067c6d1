import { decodeCursor, type Page, type PageQuery, pageOf } from '../../core/paging.ts';
import { type ChartRecord, listCharts } from '../../store/pg/charts.ts';
import type { Services } from '../../store/services.ts';

const usualCharts = 100;

export interface ShownChart {
  chart: ChartRecord;
  /** Config and recipe name columns, which policies may hide, so a governed workbook shows them to nobody. */
  isGoverned: boolean;
}

/** The charts of a workbook, by name. */
export async function pageCharts(services: Services, workbookId: string, query: PageQuery): Promise<Page<ShownChart>> {
  const after = decodeCursor(query.cursor, ['string']);
  const page = await pageOf(
    query.limit ?? usualCharts,
    (limit) => listCharts(services.db.orm, workbookId, after && (after[0] as string), limit),
    ({ name }) => [name.toLowerCase()],
  );
  const isGoverned = await services.policies.isGoverned(workbookId);
  return { ...page, items: page.items.map((chart) => ({ chart, isGoverned })) };
}
