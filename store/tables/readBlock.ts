import type { Scalar } from '../../core/a1/block.ts';
import { presentCell } from '../../core/cells/presentCell.ts';
import { answerTooLarge } from '../../core/errors.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import type { VisibleColumn } from '../../core/table/visibleTable.ts';
import { readAll } from '../duckdb/engine.ts';
import { jsonExpression } from '../duckdb/json.ts';
import { quoteName } from '../duckdb/relation.ts';
import { isWide } from '../duckdb/wide.ts';
import { cellBytes, mostAnswerBytes, requireSmallAnswer } from './answerSize.ts';
import { findRowIds } from './findRowIds.ts';
import { queryTable } from './openRelation.ts';
import { describeCells, keepNamed, type Projection } from './projection.ts';
import { eachColumn, withStoredColumns } from './storedColumns.ts';
import type { TableStorage } from './tableStorage.ts';

const smallerRange = 'Read the range in parts: fewer rows or columns at a time.';

/** The cells of the rows at some positions. */
export async function readBlock(storage: TableStorage, projection: Projection, offset: number, count: number): Promise<Scalar[][]> {
  const { visible, columns } = projection;
  const ids = await findRowIds(storage, visible.at, offset, count);
  const [min, max] = [ids[0], ids.at(-1)];
  if (min === undefined || max === undefined) return [];
  const wide = isWide(columns) ? await readWideBlock(storage, projection, ids) : null;
  if (wide) return wide;
  const needed = keepNamed(
    visible,
    columns.map(({ name }) => name),
  );
  return queryTable(storage, needed, { min, max }, async (connection, from) => {
    await requireSmallAnswer(
      connection,
      columns.map(({ name, type }) => cellBytes(quoteName(name), type)),
      from,
      smallerRange,
    );
    const cells = columns.map(cellSql).join(', ');
    const rows = await readAll(connection, `SELECT CAST(json_array(${cells}) AS VARCHAR) FROM ${from} ORDER BY ${rowIdColumn}`);
    return rows.map(([json]) => JSON.parse(json as string) as Scalar[]);
  });
}

/** Cells of a block are scalars, so JSON is returned as text. */
function cellSql({ name, type }: VisibleColumn): string {
  return type === 'JSON' ? `CAST(${quoteName(name)} AS VARCHAR)` : jsonExpression(quoteName(name), type);
}

/** Reads column by column. Null: only DuckDB can read the files. */
async function readWideBlock(storage: TableStorage, { visible, columns }: Projection, ids: number[]): Promise<Scalar[][] | null> {
  const shown = describeCells(columns).cells.flatMap(({ column, type }, place) => (type ? [{ column, type, place }] : []));
  return withStoredColumns(storage, visible.at, { ids }, async (rows) => {
    let bytes = 0;
    const values = rows.ids.map(() => new Array<Scalar>(columns.length).fill(null));
    await eachColumn(
      rows,
      shown.map(({ column }) => column),
      (texts, i) => {
        const { type, place } = shown[i] as (typeof shown)[number];
        for (const [row, text] of texts.entries()) {
          (values[row] as Scalar[])[place] = presentCell(type, text);
          bytes += text?.length ?? 0;
        }
        if (bytes > mostAnswerBytes) throw answerTooLarge(mostAnswerBytes, smallerRange);
      },
    );
    return values;
  });
}
