import { randomInt } from 'node:crypto';
import type pg from 'pg';

/** Tables that belong to no account: people, their sessions, and counters of a minute. */
export const nobodysTables = new Set(['users', 'user_identities', 'sessions', 'rate_windows', 'login_attempts', 'usage_rollups']);

/** The books are kept by functions of their own. */
const credits = ['credit_movements', 'credit_entries'];

interface Column {
  name: string;
  type: string;
  required: boolean;
  /** Worked out from others. */
  generated: boolean;
}

/** All tables of the catalog, as the database describes them: a new one is among them without anybody's doing. */
export async function listCatalog(sql: pg.Pool): Promise<Map<string, Column[]>> {
  const { rows } = await sql.query<Column & { table: string }>(
    `SELECT c.table_name AS table, c.column_name AS name, c.data_type AS type, c.is_generated = 'ALWAYS' AS generated,
       c.is_nullable = 'NO' AND c.column_default IS NULL AND c.is_generated = 'NEVER' AS required
     FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
     WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' ORDER BY 1, c.ordinal_position`,
  );
  const catalog = new Map<string, Column[]>();
  for (const { table, ...column } of rows) catalog.set(table, [...(catalog.get(table) ?? []), column]);
  return catalog;
}

/** Where the rows of each table lie. */
export async function listPlaces(sql: pg.Pool, tables: Iterable<string>): Promise<Map<string, string[]>> {
  const places = new Map<string, string[]>();
  for (const table of tables) {
    const { rows } = await sql.query<{ place: string }>(`SELECT ctid::text AS place FROM ${table} ORDER BY 1`);
    places.set(
      table,
      rows.map(({ place }) => place),
    );
  }
  return places;
}

/** At least one row of the account in every table, made up from the columns that each must have. The account itself may be there. */
export async function fillTables(sql: pg.Pool, accountId: string): Promise<void> {
  const catalog = await listCatalog(sql);
  let left = [...catalog.keys()].filter((table) => !credits.includes(table));
  while (left.length > 0) {
    const postponed: string[] = [];
    for (const table of left) {
      const columns = (catalog.get(table) as Column[]).filter(({ required }) => required);
      const values = columns.map((column) => inventValue(table, column, accountId));
      try {
        await sql.query(
          `INSERT INTO ${table} (${columns.map(({ name }) => name).join(', ')}) VALUES (${values.map((_, i) => `$${i + 1}`).join(', ')})
           ON CONFLICT DO NOTHING`,
          values,
        );
      } catch (error) {
        // What it refers to is not there yet.
        if ((error as { code?: string }).code !== '23503') throw error;
        postponed.push(table);
      }
    }
    if (postponed.length === left.length) throw new Error(`no rows could be made up for ${postponed.join(', ')}`);
    left = postponed;
  }
  await sql.query(
    `WITH granted AS (INSERT INTO credit_movements (account_id, key, kind, at) VALUES ($1, 'grant', 'grant', now()))
     INSERT INTO credit_entries (account_id, key, source, ends, bucket, amount, at)
     VALUES ($1, 'grant', 'included', 202611, 'issued', -200, now()), ($1, 'grant', 'included', 202611, 'available', 200, now())`,
    [accountId],
  );
}

const references: Record<string, string> = { owner_id: 'users', input_id: 'tables', link_id: 'file_links' };

function inventValue(table: string, { name, type }: Column, accountId: string): unknown {
  const idOf = (other: string) => (other === 'accounts' ? accountId : `${other}_of_${accountId}`);
  if (name === 'id') return idOf(table);
  if (name === 'scope') return table === 'idempotency' ? `${accountId} somebody` : idOf('workbooks');
  if (table === 'garbage_blobs' && name === 'key') return `${accountId}/workbook/file`;
  if (name.endsWith('_id') && type === 'text') return idOf(references[name] ?? `${name.slice(0, -3)}s`);
  if (type === 'text') return `of ${accountId}`;
  if (type === 'integer' || type === 'bigint') return 1;
  if (type === 'boolean') return false;
  if (type === 'bytea') return Buffer.from(accountId);
  if (type === 'ARRAY') return [];
  if (type.startsWith('json')) return {};
  if (type.startsWith('timestamp')) return new Date();
  // One of many, because some tables have one row for each.
  if (type === 'date') return new Date(Date.UTC(2000, 0, randomInt(20_000))).toISOString().slice(0, 10);
  throw new Error(`a value for ${table}.${name} of the type ${type} is to be invented here`);
}
