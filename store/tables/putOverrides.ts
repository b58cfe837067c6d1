import type { DuckDBConnection } from '@duckdb/node-api';
import { type CarriedOverrides, carryOverrides } from '../../core/overrides/carryOverrides.ts';
import type { Override } from '../../core/overrides/override.ts';
import { type Cells, rowIdColumn } from '../../core/table/table.ts';
import type { DerivedColumn } from '../../core/transforms/outputColumns.ts';
import { innerName } from '../duckdb/buildRelation.ts';
import { cellText } from '../duckdb/cellText.ts';
import { readAll } from '../duckdb/engine.ts';
import { createTailTable } from '../duckdb/relation.ts';
import { compareRows, type Match } from './matchDerived.ts';

interface Overridden extends Match {
  /** The table of ids: `ord`, `old_id`, `id` and what differs. */
  ids: string;
  /** The name of a table to make. */
  values: string;
  /** Cells that keep their values, whatever the result has. */
  overrides: Override[];
  /** False: they end with this run. */
  keepsOverrides: boolean;
}

/**
 * Puts overrides on top of the rows of a result. `shown`: the rows with them, and then the table of ids tells what differs in
 * these; null: there are none. `carried`: what the result has in their cells.
 */
export async function putOverrides(
  connection: DuckDBConnection,
  match: Overridden,
): Promise<{ shown: string | null; carried: CarriedOverrides }> {
  const { overrides, columns, keepsOverrides, ids, values, rows } = match;
  const overridden = new Set(overrides.map(({ columnId }) => columnId));
  const chosen = columns.filter(({ id }) => overridden.has(id));
  if (chosen.length === 0 || !keepsOverrides) return { shown: null, carried: carryOverrides(overrides, new Map(), columns) };
  await loadOverrides(connection, values, chosen, overrides);
  const list = columns.map(({ id }) => {
    const name = innerName(id);
    return overridden.has(id) ? `CASE WHEN o.${isSet(id)} THEN o.${name} ELSE r.${name} END AS ${name}` : `r.${name}`;
  });
  const shown = `(SELECT r.ord, ${list.join(', ')} FROM ${rows} r
    LEFT JOIN (SELECT i.ord, v.* FROM ${ids} i JOIN ${values} v ON v.id = i.id) o ON o.ord = r.ord)`;
  const isOverridden = `i.id IN (SELECT id FROM ${values})`;
  await compareShown(connection, match, shown, isOverridden);
  return { shown, carried: carryOverrides(overrides, await readBelow(connection, match, chosen, isOverridden), columns) };
}

const isSet = (id: number) => `s${id}`;

/** A row for each overridden one, with its values and which of them are overridden. */
async function loadOverrides(connection: DuckDBConnection, table: string, chosen: DerivedColumn[], overrides: Override[]): Promise<void> {
  const cells = new Map<number, Cells>();
  for (const { rowId, columnId, value } of overrides) cells.set(rowId, { ...cells.get(rowId), [columnId]: value });
  const columns = [
    { name: 'id', type: 'BIGINT', path: '$[0]' },
    ...chosen.flatMap(({ id, type }) => [
      { name: innerName(id), type, path: `$[1]."${id}"` },
      { name: isSet(id), type: 'BOOLEAN', path: `$[2]."${id}"` },
    ]),
  ];
  const items = [...cells].map(([rowId, values]) => [rowId, values, Object.fromEntries(Object.keys(values).map((id) => [id, 'true']))]);
  await connection.run(createTailTable(table, columns), [JSON.stringify(items)]);
}

/** What differs in overridden rows was told by what the result has in them; now it is told by what they show. */
async function compareShown(
  connection: DuckDBConnection,
  { ids, from, columns, before }: Overridden,
  shown: string,
  isOverridden: string,
): Promise<void> {
  if (from === null) return;
  const masks = compareRows(columns, before);
  await connection.run(
    `UPDATE ${ids} SET ${masks.map((_, i) => `m${i} = compared.m${i}`).join(', ')} FROM (
       SELECT i.ord, ${masks.map((mask, i) => `${mask} AS m${i}`).join(', ')}
       FROM ${shown} f JOIN ${ids} i ON i.ord = f.ord JOIN ${from} o ON o.${rowIdColumn} = i.old_id
       WHERE ${isOverridden}) compared WHERE compared.ord = ${ids}.ord`,
  );
}

/** What the result has in overridden rows. */
async function readBelow(
  connection: DuckDBConnection,
  { ids, rows }: Overridden,
  chosen: DerivedColumn[],
  isOverridden: string,
): Promise<Map<number, Cells>> {
  const texts = chosen.map(({ id, type }) => `replace(${cellText(`r.${innerName(id)}`, type)}, chr(0), '\uFFFD')`);
  const found = await readAll(
    connection,
    `SELECT i.id::DOUBLE, ${texts.join(', ')} FROM ${rows} r JOIN ${ids} i ON i.ord = r.ord WHERE ${isOverridden}`,
  );
  return new Map(
    found.map(([rowId, ...values]) => [
      rowId as number,
      Object.fromEntries(chosen.map(({ id }, i) => [id, (values[i] ?? null) as string | null])),
    ]),
  );
}
