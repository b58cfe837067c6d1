import type { ShownChart } from '../../activities/charts/pageCharts.ts';
import type { components } from '../../schema/contract.ts';

export function presentChart({ chart, isGoverned }: ShownChart): components['schemas']['ChartInfo'] {
  return {
    name: chart.name,
    artifact_id: chart.id,
    chart_type: chart.chartType,
    source_table: chart.tableName,
    title: chart.title,
    config: isGoverned ? null : chart.config,
    recipe: isGoverned ? null : chart.recipe,
    config_omitted: isGoverned ? 'governed' : null,
  };
}
