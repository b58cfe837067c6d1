import type pg from 'pg';

/** The tables in which the text occurs, in any column of any type; bytes are searched too. */
export async function findInDatabase(sql: pg.Pool, text: string): Promise<string[]> {
  const tables = await sql.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1",
  );
  const found: string[] = [];
  for (const { name } of tables.rows) {
    const schema = await sql.query<{ schema: string }>('SELECT schemaname AS schema FROM pg_tables WHERE tablename = $1', [name]);
    // A row as text shows bytea as hex.
    const { rowCount } = await sql.query(
      `SELECT 1 FROM "${schema.rows[0]?.schema}"."${name}" t WHERE position($1 in t::text) > 0 OR position($2 in t::text) > 0 LIMIT 1`,
      [text, Buffer.from(text).toString('hex')],
    );
    if (rowCount) found.push(name);
  }
  return found;
}
