import type pg from 'pg';
import type { Flows } from '../../core/lineage/flows.ts';

const mostEdges = 5000;

/** That a table was made from another, by id. Flows null: it is not known by which columns. */
export interface TableEdge {
  from: string;
  to: string;
  kind: 'structuring' | 'transform';
  flows: Flows | null;
}

/** Edges between a table and all its direct and indirect inputs and outputs. */
export async function listEdges(pool: pg.Pool, tableId: string): Promise<TableEdge[]> {
  const { rows } = await pool.query<TableEdge>(
    `WITH RECURSIVE up(id) AS (
       SELECT $1::text UNION SELECT i.input_id FROM table_inputs i JOIN up ON i.table_id = up.id
     ), down(id) AS (
       SELECT $1::text UNION SELECT i.table_id FROM table_inputs i JOIN down ON i.input_id = down.id
     )
     SELECT i.input_id AS "from", i.table_id AS "to", i.kind, i.flows FROM table_inputs i
     WHERE (i.table_id IN (SELECT id FROM up) AND i.input_id IN (SELECT id FROM up))
        OR (i.table_id IN (SELECT id FROM down) AND i.input_id IN (SELECT id FROM down))
     ORDER BY 1, 2 LIMIT ${mostEdges}`,
    [tableId],
  );
  return rows;
}
