import { audited, type Notes, oneOp } from './notes.ts';

interface NotedChart {
  id: string;
  name: string;
}

const describeChart = ({ id, name }: NotedChart) => ({ artifact_id: id, name, kind: 'chart' as const, edit_version: null });

/** Created or replaced. */
export function chartPut(chart: NotedChart, table: string): Notes {
  return {
    ...audited('chart.put', chart.name, { table }),
    events: [{ type: 'artifact.updated', data: describeChart(chart) }],
    usage: oneOp,
  };
}

export function chartDeleted(chart: NotedChart): Notes {
  return { ...audited('chart.delete', chart.name), events: [{ type: 'artifact.deleted', data: describeChart(chart) }], usage: oneOp };
}
