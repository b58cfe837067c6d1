import { type CompactionLimits, chooseFileRows } from '../../core/table/compactionLimits.ts';
import { estimateRowBytes } from '../../core/table/rowBytes.ts';
import { type Layer, rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import { tablePrefix } from '../blobs/keys.ts';
import { fieldIds, innerName } from '../duckdb/buildRelation.ts';
import { isWide } from '../duckdb/wide.ts';
import { type FileColumn, type WrittenFile, writeSelect } from '../duckdb/writeFile.ts';
import type { FileWatch } from './fileWatch.ts';
import { queryRowIds, queryTable } from './openRelation.ts';
import type { TableStorage } from './tableStorage.ts';
import { writeWideSpan } from './writeWideSpan.ts';
import type { WrittenColumn } from './writtenColumns.ts';

interface Span {
  minRow: number;
  maxRow: number;
  rows: number;
}

/** Writes the whole content of a version as segments sorted by row id. Changes nothing but the blob store. */
export async function writeSegments(
  storage: TableStorage,
  at: TableAt,
  columns: WrittenColumn[],
  limits: CompactionLimits,
  watch?: FileWatch,
): Promise<Layer[]> {
  for (let rowBytes = estimateRowBytes(at, []); ; ) {
    const fileRows = chooseFileRows(at.rowCount, rowBytes, limits);
    const spans = await cutSpans(storage, at, fileRows);
    const written = spans.reduce((sum, span) => sum + span.rows, 0);
    // If the layers do not give the recorded number of rows, something is wrong, and they must not be replaced.
    if (written !== at.rowCount) throw new Error(`${at.table.id}@${at.editVersion} has ${at.rowCount} rows, its layers ${written}`);
    const layers: Layer[] = [];
    let tooLarge = 0;
    for (const span of spans) {
      watch?.step();
      const file = await writeSpan(storage, at, columns, span);
      watch?.wrote(file.key);
      // The estimate was too low: start again with smaller files, if that is possible.
      if (file.bytes > limits.fileBytes && chooseFileRows(at.rowCount, file.bytes / span.rows, limits) < fileRows) {
        tooLarge = file.bytes / span.rows;
        break;
      }
      layers.push({ kind: 'segment', ...file, ...span });
    }
    if (tooLarge === 0) return layers;
    await watch?.dropAll();
    rowBytes = tooLarge;
  }
}

/** Ranges of row ids with `fileRows` rows each. Reads only the ids. */
async function cutSpans(storage: TableStorage, at: TableAt, fileRows: number): Promise<Span[]> {
  return queryRowIds(storage, at, null, async (connection, from) => {
    const reader = await connection.runAndReadAll(
      `SELECT min(id)::DOUBLE, max(id)::DOUBLE, count(*)::DOUBLE
       FROM (SELECT ${rowIdColumn} AS id, (row_number() OVER (ORDER BY ${rowIdColumn}) - 1) // ${fileRows} AS part FROM ${from})
       GROUP BY part ORDER BY part`,
    );
    return reader.getRows().map(([min, max, rows]) => ({ minRow: min as number, maxRow: max as number, rows: rows as number }));
  });
}

async function writeSpan(storage: TableStorage, at: TableAt, columns: WrittenColumn[], span: Span): Promise<WrittenFile> {
  const wide = isWide(columns) ? await writeWideSpan(storage, at, columns, span) : null;
  if (wide) return wide;
  const file: FileColumn[] = [
    { id: fieldIds.rowId, name: rowIdColumn, type: 'BIGINT' },
    ...columns.map(({ id, type }) => ({ id, name: innerName(id), type })),
  ];
  const list = [rowIdColumn, ...columns.map(({ id, sql }) => `${sql} AS ${innerName(id)}`)].join(', ');
  return queryTable(storage, seeEverything(at), { min: span.minRow, max: span.maxRow }, (connection, from) =>
    writeSelect(storage, tablePrefix(at.table), file, connection, `SELECT ${list} FROM ${from} ORDER BY ${rowIdColumn}`),
  );
}
