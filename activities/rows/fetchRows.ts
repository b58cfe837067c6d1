import type { Principal } from '../../core/access/principal.ts';
import type { TableAt } from '../../core/table/table.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { withRelation } from '../../store/duckdb/engine.ts';
import { rowJson } from '../../store/duckdb/json.ts';
import type { Relation, RelationColumn } from '../../store/duckdb/relation.ts';
import type { Services } from '../../store/services.ts';
import { openRelation } from '../tables/openTable.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';
import type { PageRow } from './lookUpRows.ts';

/** Rows by their ids, by the engine, in any order. */
export async function fetchRows(
  services: Services,
  principal: Principal,
  at: TableAt,
  columns: RelationColumn[],
  ids: number[],
): Promise<PageRow[]> {
  return fetchFrom(services, await openRelation(services, await openVisibleTable(services, principal, at), { ids }), columns, '');
}

export async function fetchFrom(services: Services, relation: Relation, columns: RelationColumn[], rest: string): Promise<PageRow[]> {
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const reader = await connection.runAndReadAll(
      `SELECT CAST(${rowIdColumn} AS DOUBLE), CAST(${rowJson(columns)} AS VARCHAR) FROM (SELECT * FROM ${from} ${rest})`,
    );
    return reader.getRows().map(([id, json]) => ({ id: id as number, json: json as string }));
  });
}
