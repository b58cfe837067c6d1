import type { Layer } from '../../schema/tables.ts';
import { fieldIds, innerName, rowIdColumn } from '../../store/duckdb/buildRelation.ts';
import { readAll, withRelation } from '../../store/duckdb/engine.ts';
import { type FileColumn, writeSelect } from '../../store/duckdb/writeFile.ts';
import type { TableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { openUnmasked } from '../tables/openTable.ts';

/** A column of the rewritten rows: its id and type, and SQL over the table's own column names. */
export interface RewrittenColumn {
  id: number;
  type: string;
  sql: string;
}

const mostBytes = 64 * 1024 * 1024;
const rowGroup = 20_480;

/** The whole table at its version, written anew as segments. Nothing is changed by it but the blob store. */
export async function rewriteRows(services: Services, at: TableAt, columns: RewrittenColumn[]): Promise<Layer[]> {
  const relation = await openUnmasked(services, at);
  if (relation.files.length === 0 && !relation.tail) return [];
  const prefix = `${at.table.accountId}/${at.table.workbookId}/${at.table.id}`;
  const file: FileColumn[] = [
    { id: fieldIds.rowId, name: rowIdColumn, type: 'BIGINT' },
    ...columns.map(({ id, type }) => ({ id, name: innerName(id), type })),
  ];
  const list = columns.map(({ id, sql }) => `, ${sql} AS ${innerName(id)}`).join('');
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const parts = await readAll(
      connection,
      `SELECT CAST(min(id) AS DOUBLE), CAST(max(id) AS DOUBLE), CAST(count(*) AS DOUBLE)
       FROM (SELECT ${rowIdColumn} AS id, (row_number() OVER (ORDER BY ${rowIdColumn}) - 1) // ${rowsPerFile(at)} AS part FROM ${from})
       GROUP BY part ORDER BY part`,
    );
    const layers: Layer[] = [];
    for (const [min, max, rows] of parts as [number, number, number][]) {
      const select = `SELECT ${rowIdColumn}${list} FROM ${from} WHERE ${rowIdColumn} BETWEEN ${min} AND ${max} ORDER BY ${rowIdColumn}`;
      const written = await writeSelect(services, prefix, file, connection, select);
      layers.push({ kind: 'segment', rows, minRow: min, maxRow: max, ...written });
    }
    return layers;
  });
}

/** By what the present files take for a row; whole row groups. */
function rowsPerFile(at: TableAt): number {
  let [bytes, rows] = [0, 0];
  for (const layer of at.layers) {
    if (layer.kind === 'log') continue;
    bytes += layer.bytes;
    rows += layer.rows;
  }
  const perRow = rows === 0 ? 1_000 : Math.max(8, bytes / rows);
  return Math.max(1, Math.floor(mostBytes / perRow / rowGroup)) * rowGroup;
}
