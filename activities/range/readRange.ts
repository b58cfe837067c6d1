import { formatBlock, type Scalar, trimBlanks } from '../../core/a1/block.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { Range } from '../../core/grid/grid.ts';
import { rowIdColumn } from '../../store/duckdb/buildRelation.ts';
import { readAll, withRelation } from '../../store/duckdb/engine.ts';
import { jsonExpression } from '../../store/duckdb/json.ts';
import { quoteName, type RelationColumn } from '../../store/duckdb/relation.ts';
import type { TableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { findRowIds } from '../rows/findRowIds.ts';
import { describeRelation, openRelation } from '../tables/openTable.ts';
import { refuseRange, requireBlock } from './openBlock.ts';

/** As many as one write can have. */
const mostCells = 1_000_000;

/** The table as a sheet: row 1 is the header, columns are those that the caller sees, trailing blanks are left out. */
export async function readRange(
  services: Services,
  principal: Principal,
  at: TableAt,
  rangeText: string,
): Promise<{ range: string; values: Scalar[][] }> {
  const asked = requireBlock(rangeText, '/query/range');
  const columns = await describeRelation(services, at, principal);
  // Nothing stands beyond the last row and column.
  const block: Range = { ...asked, bottom: Math.min(asked.bottom, at.rowCount + 1), right: Math.min(asked.right, columns.length - 1) };
  const chosen = columns.slice(block.left - 1, block.right);
  const height = block.bottom - block.top + 1;
  if (height * chosen.length > mostCells)
    throw refuseRange({ pointer: '/query/range', detail: `holds more than ${mostCells} cells; read it in parts` });
  const values: Scalar[][] = [];
  if (chosen.length > 0 && height > 0) {
    if (block.top === 1) values.push(chosen.map((column) => column.name));
    const first = Math.max(block.top, 2) - 2;
    values.push(...(await readBlock(services, principal, at, chosen, first, block.bottom - 1 - first)));
  }
  const shown = trimBlanks(values);
  const { top, left } = asked;
  const width = shown[0]?.length ?? 0;
  return {
    range: formatBlock({ top, left, bottom: top + Math.max(shown.length, 1) - 1, right: left + Math.max(width, 1) - 1 }),
    values: shown,
  };
}

/** First the ids at the positions, then the rows between them. */
async function readBlock(
  services: Services,
  principal: Principal,
  at: TableAt,
  columns: RelationColumn[],
  offset: number,
  count: number,
): Promise<Scalar[][]> {
  const ids = await findRowIds(services, at, offset, count);
  const [min, max] = [ids[0], ids.at(-1)];
  if (min === undefined || max === undefined) return [];
  const relation = await openRelation(services, at, principal, { min, max });
  // A cell holds one value: JSON stands in it as its text.
  const cells = columns.map(({ name, type }) =>
    type === 'JSON' ? `CAST(${quoteName(name)} AS VARCHAR)` : jsonExpression(quoteName(name), type),
  );
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const rows = await readAll(connection, `SELECT CAST(json_array(${cells.join(', ')}) AS VARCHAR) FROM ${from} ORDER BY ${rowIdColumn}`);
    return rows.map(([json]) => JSON.parse(json as string) as Scalar[]);
  });
}
