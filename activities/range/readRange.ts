import { formatRange } from '../../core/a1/address.ts';
import { type Scalar, trimBlanks } from '../../core/a1/block.ts';
import type { Principal } from '../../core/access/principal.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import type { Range } from '../../core/grid/grid.ts';
import type { TableAt } from '../../core/table/table.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { readAll, withRelation } from '../../store/duckdb/engine.ts';
import { jsonExpression } from '../../store/duckdb/json.ts';
import { quoteName, type RelationColumn } from '../../store/duckdb/relation.ts';
import { isWide } from '../../store/duckdb/wide.ts';
import type { Services } from '../../store/services.ts';
import { findRowIds } from '../rows/findRowIds.ts';
import { eachColumn, withStoredColumns } from '../rows/storedColumns.ts';
import { keepNamed } from '../tables/narrowTable.ts';
import { describeRelation, openRelation } from '../tables/openTable.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';
import { refuseRange, requireBlock } from './openBlock.ts';
import { presentCell } from './presentCell.ts';

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
    range: formatRange({ top, left, bottom: top + Math.max(shown.length, 1) - 1, right: left + Math.max(width, 1) - 1 }),
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
  const wide = isWide(columns) ? await readWideBlock(services, at, columns, ids) : null;
  if (wide) return wide;
  const kept = keepNamed(
    at,
    columns.map(({ name }) => name),
  );
  const relation = await openRelation(services, await openVisibleTable(services, principal, kept), { min, max });
  // A cell holds one value: JSON stands in it as its text.
  const cells = columns.map(({ name, type }) =>
    type === 'JSON' ? `CAST(${quoteName(name)} AS VARCHAR)` : jsonExpression(quoteName(name), type),
  );
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const rows = await readAll(connection, `SELECT CAST(json_array(${cells.join(', ')}) AS VARCHAR) FROM ${from} ORDER BY ${rowIdColumn}`);
    return rows.map(([json]) => JSON.parse(json as string) as Scalar[]);
  });
}

/** Column by column; null when only an engine can read the files. */
async function readWideBlock(services: Services, at: TableAt, columns: RelationColumn[], ids: number[]): Promise<Scalar[][] | null> {
  const places = new Map(columns.map(({ name, masked }, place) => [name, { place, masked }]));
  const shown = at.columns.flatMap((column) => {
    const found = places.get(column.name);
    return found && !found.masked ? [{ column, place: found.place }] : [];
  });
  return withStoredColumns(services, at, { ids }, async (rows) => {
    const values = rows.ids.map(() => new Array<Scalar>(columns.length).fill(null));
    await eachColumn(
      rows,
      shown.map(({ column }) => column),
      (texts, i) => {
        const { column, place } = shown[i] as (typeof shown)[number];
        const type = parseColumnType(column.type) as ColumnType;
        for (const [row, text] of texts.entries()) (values[row] as Scalar[])[place] = presentCell(type, text);
      },
    );
    return values;
  });
}
