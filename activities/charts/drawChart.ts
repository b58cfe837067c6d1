import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import type { PictureFormat } from '../../store/charts/requests.ts';
import { findCurrentTableById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { requireChart } from './requireChart.ts';
import { withChartInput } from './withChartInput.ts';

/** A picture of the chart over the rows that its table has now. */
export async function drawChart(
  services: Services,
  principal: Principal,
  chart: { workbookId: string; name: string; as: PictureFormat },
  signal?: AbortSignal,
): Promise<Buffer> {
  const { config, tableId, name } = await requireChart(services, chart.workbookId, chart.name);
  const table = tableId && (await findCurrentTableById(services.db.pool, tableId));
  if (!table || table.table.deletedAt !== null)
    throw new DomainError('not-found', `The table that the chart ${name} shows was deleted.`, 'Make the chart again over another table.');
  const draw = { op: 'draw', as: chart.as } as const;
  return withChartInput(
    services,
    principal,
    { config, table },
    async (process, input) => (await process.ask({ ...draw, ...input } as { op: string })) as Buffer,
    signal,
  );
}
