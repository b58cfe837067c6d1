import { notFound } from '../../core/errors.ts';
import { chartDeleted } from '../../core/journal/chartNotes.ts';
import { deleteChart } from '../../store/pg/charts.ts';
import { type Actor, commit } from '../../store/pg/commit.ts';
import type { Services } from '../../store/services.ts';
import { requireChart } from './requireChart.ts';

/** Deletes a chart and no data. */
export async function removeChart(services: Services, actor: Actor, workbookId: string, name: string): Promise<void> {
  await requireChart(services, workbookId, name);
  await commit(services, actor, async (tx) => {
    const gone = await deleteChart(tx, workbookId, name);
    if (!gone) throw notFound('chart in this workbook', 'It was deleted a moment ago.');
    tx.note(workbookId, chartDeleted(gone));
  });
}
