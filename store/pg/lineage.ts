import type pg from 'pg';

const mostEdges = 5000;

/** Edges between a table and all its direct and indirect inputs and outputs. */
export async function listEdges(pool: pg.Pool, tableId: string): Promise<{ from: string; to: string }[]> {
  const { rows } = await pool.query<{ from: string; to: string }>(
    `WITH RECURSIVE up(id) AS (
       SELECT $1::text UNION SELECT i.input_id FROM table_inputs i JOIN up ON i.table_id = up.id
     ), down(id) AS (
       SELECT $1::text UNION SELECT i.table_id FROM table_inputs i JOIN down ON i.input_id = down.id
     )
     SELECT DISTINCT i.input_id AS "from", i.table_id AS "to" FROM table_inputs i
     WHERE (i.table_id IN (SELECT id FROM up) AND i.input_id IN (SELECT id FROM up))
        OR (i.table_id IN (SELECT id FROM down) AND i.input_id IN (SELECT id FROM down))
     ORDER BY 1, 2 LIMIT ${mostEdges}`,
    [tableId],
  );
  return rows;
}
