import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LogRow } from '../../core/table/log.ts';
import { type RowSelection, rowIdColumn } from '../../core/table/table.ts';
import type { LogFile } from '../pg/logFiles.ts';
import { limitRows } from './buildRelation.ts';
import { cellText } from './cellText.ts';
import { readAll } from './engine.ts';
import { openFileRows } from './fileRows.ts';
import { quoteName, quoteText } from './relation.ts';
import { isWide } from './wide.ts';
import type { Storage } from './writeFile.ts';

export interface LogFileQuery {
  after: number;
  upTo: number;
  rows?: RowSelection | null;
  limit?: number;
  /** False: cells are not read, only which rows and columns changed. */
  withCells: boolean;
}

/** In files of wide tables the list is stored as text. */
const changedSql = (type: string) => (type === 'VARCHAR' ? '__svc_changed' : 'CAST(to_json(__svc_changed) AS VARCHAR)');

const cellColumn = /^c(\d+)$/;

/** The log entries in a file, oldest first. */
export async function readLogFile(storage: Storage, file: LogFile, query: LogFileQuery): Promise<LogRow[]> {
  const opened = await storage.blobs.open([file.key]);
  try {
    return await storage.engine.use(async (connection) => {
      const from = `read_parquet([${quoteText(opened.pathOf(file.key))}])`;
      const types = new Map((await readAll(connection, `DESCRIBE SELECT * FROM ${from}`)) as [name: string, type: string][]);
      const names = [...types.keys()];
      const ids = names.flatMap((name) => cellColumn.exec(name)?.[1] ?? []);
      const textOf = (name: string) => cellText(quoteName(name), types.get(name) ?? '');
      const isDelta = names.includes('__svc_op');
      // With a cast, because ORDER BY takes a bare number for a column's position.
      const version = names.includes('__svc_version') ? '__svc_version' : `CAST(${file.upTo} AS BIGINT)`;
      const isSplit = query.withCells && isWide(ids);
      const cells = names.includes('__svc_cells')
        ? '__svc_cells'
        : isSplit
          ? 'NULL'
          : `json_object(${ids.map((id) => `${quoteText(id)}, ${textOf(`c${id}`)}`).join(', ')})`;
      const wanted = query.rows ? ` AND ${limitRows(query.rows)}` : '';
      const rows = await readAll(
        connection,
        `SELECT CAST(${version} AS DOUBLE), CAST(${rowIdColumn} AS DOUBLE), ${isDelta ? '__svc_op' : "'I'"},
           ${isDelta ? changedSql(types.get('__svc_changed') ?? '') : 'NULL'},
           ${query.withCells ? `CAST(${cells} AS VARCHAR)` : 'NULL'}, ${isDelta && query.withCells ? '__svc_before' : 'NULL'}
         FROM ${from} WHERE ${version} > ${query.after} AND ${version} <= ${query.upTo}${wanted}
         ORDER BY ${version}, ${rowIdColumn} ${query.limit === undefined ? '' : `LIMIT ${query.limit}`}`,
      );
      const wide = isSplit
        ? await readWideCells(
            opened.pathOf(file.key),
            ids,
            rows.map(([, rowId]) => rowId as number),
          )
        : null;
      return rows.map(([editVersion, rowId, op, changed, after, before]): LogRow => {
        const told = wide?.get(rowId as number) ?? (after === null ? null : (JSON.parse(after as string) as NonNullable<LogRow['cells']>));
        const row = op === 'D' ? null : told;
        return {
          editVersion: editVersion as number,
          rowId: rowId as number,
          op: op as LogRow['op'],
          // A segment does not record which cells were given; those that are not null are taken as given.
          changed:
            changed === null ? ids.map(Number).filter((id) => !row || row[id] !== null) : (JSON.parse(changed as string) as number[]),
          cells: row,
          before: before === null ? null : (JSON.parse(before as string) as LogRow['before']),
        };
      });
    });
  } finally {
    opened.release();
  }
}

/** The cells of a file with very many columns, by row id; DuckDB would need too much memory to build them as JSON. */
async function readWideCells(path: string, columnIds: string[], rowIds: number[]): Promise<Map<number, NonNullable<LogRow['cells']>>> {
  const file = openFileRows(path, { ids: rowIds.toSorted((a, b) => a - b) });
  try {
    const cells = file.ids.map((): NonNullable<LogRow['cells']> => ({}));
    for (const [i, id] of columnIds.entries()) {
      const texts = file.texts(Number(id)) ?? [];
      for (const [row, each] of cells.entries()) each[id] = texts[row] ?? null;
      // Lets other requests run in between.
      if (i % 256 === 255) await nextTurn();
    }
    return new Map(file.ids.map((id, row) => [id, cells[row] as NonNullable<LogRow['cells']>]));
  } finally {
    file.close();
  }
}
