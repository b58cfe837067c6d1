import type { InputRow } from '../../activities/discovery/traceInputRows.ts';
import type { LineageEdge, LineageGraph } from '../../activities/discovery/traceLineage.ts';
import type { TransformOfTable } from '../../activities/tables/findTransformsOf.ts';
import type { components } from '../../schema/contract.ts';

type Schemas = components['schemas'];

/** Nodes for sources, the ranges of their sheets, tables, transforms between tables, and what shows tables. */
export function presentLineage(name: string, graph: LineageGraph): Schemas['TableLineage'] {
  const { tables, sources, landings, edges, transforms, showings } = graph;
  const regions = landings.filter(({ role, range }) => role !== 'raw' && range !== null);
  const regionId = ({ sourceId, sheet, range }: LineageGraph['landings'][number]) => `${sourceId}/${sheet}!${range}`;
  const regionNodes = new Map(
    regions.map((landing) => [
      regionId(landing),
      { id: regionId(landing), kind: 'region' as const, name: landing.range as string, sheet: landing.sheet, range: landing.range },
    ]),
  );
  return {
    name,
    nodes: [
      ...sources.map((source) => ({ id: source.id, kind: 'source' as const, name: source.name })),
      ...regionNodes.values(),
      ...tables.map((table) => ({
        id: table.id,
        kind: table.layer === 'view' ? ('view' as const) : ('table' as const),
        name: table.name,
        state: table.state,
        edit_version: table.editVersion,
        ...presentFreshness(transforms.get(table.id)),
      })),
      ...[...transforms].map(([outputId, { name: transform }]) => ({
        id: transformId(outputId),
        kind: 'transform' as const,
        name: transform,
      })),
      ...new Map(showings.map(({ id, kind, name: shown }) => [id, { id, kind, name: shown }])).values(),
    ],
    edges: distinct([
      ...landings.flatMap((landing) => {
        if (landing.role === 'raw' || landing.range === null) return [{ from: landing.sourceId, to: landing.tableId }];
        const region = regionId(landing);
        return [
          { from: landing.sourceId, to: region },
          { from: region, to: landing.tableId },
        ];
      }),
      ...edges.flatMap((edge) => presentEdge(edge, transforms.has(edge.to))),
      ...showings.map(({ id, tableId }) => ({ from: tableId, to: id })),
    ]),
  };
}

export const presentInputRow = ({ table, rowId, editVersion }: InputRow): Schemas['InputRow'] => ({
  table,
  row_id: rowId,
  edit_version: editVersion,
});

const transformId = (outputId: string) => `${outputId}/transform`;

const presentFreshness = (transform: TransformOfTable | undefined) => (transform ? { stale: transform.freshness.staleSince !== null } : {});

/** What was derived leads through its transform. */
function presentEdge({ from, to, kind, columns }: LineageEdge, isDerived: boolean): Schemas['LineageEdge'][] {
  const named = columns && {
    columns: columns.map(({ column, to: reached, decidesRows }) => ({ column, to: reached, decides_rows: decidesRows })),
  };
  if (kind === 'structuring' || !isDerived) return [{ from, to, ...named }];
  return [
    { from, to: transformId(to), ...named },
    { from: transformId(to), to },
  ];
}

function distinct(edges: Schemas['LineageEdge'][]): Schemas['LineageEdge'][] {
  return [...new Map(edges.map((edge) => [`${edge.from} ${edge.to}`, edge])).values()];
}
