import { type ColumnRecord, type Layer, rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import { fieldIds, innerName } from '../../store/duckdb/buildRelation.ts';
import { withRelation } from '../../store/duckdb/engine.ts';
import { quoteName } from '../../store/duckdb/relation.ts';
import { isWide } from '../../store/duckdb/wide.ts';
import { type FileColumn, type WrittenFile, writeSelect } from '../../store/duckdb/writeFile.ts';
import type { Services } from '../../store/services.ts';
import { openUnmasked } from '../tables/openTable.ts';
import { estimateRowBytes } from '../tables/rowBytes.ts';
import type { CompactionWatch } from './compactTable.ts';
import { type CompactionLimits, chooseFileRows } from './limits.ts';
import { writeWideSpan } from './writeWideSpan.ts';

interface Span {
  minRow: number;
  maxRow: number;
  rows: number;
}

/** A column of the rows as they are written: its id and type, and SQL over the table's own column names. */
export interface WrittenColumn {
  id: number;
  type: string;
  sql: string;
  /** The one column that the SQL is about. */
  of: ColumnRecord;
}

/** All columns as they are. */
export function keepColumns(at: TableAt): WrittenColumn[] {
  return at.columns.map((column) => ({ id: column.id, type: column.type, sql: quoteName(column.name), of: column }));
}

/** The whole content at a version as segments sorted by row id. Nothing is changed by it but the blob store. */
export async function writeSegments(
  services: Services,
  at: TableAt,
  columns: WrittenColumn[],
  limits: CompactionLimits,
  watch?: CompactionWatch,
): Promise<Layer[]> {
  for (let rowBytes = estimateRowBytes(at); ; ) {
    const fileRows = chooseFileRows(at.rowCount, rowBytes, limits);
    const spans = await cutSpans(services, at, fileRows);
    const written = spans.reduce((sum, span) => sum + span.rows, 0);
    // The count of a version is kept beside it; layers that give another are not understood, and must not be replaced.
    if (written !== at.rowCount) throw new Error(`${at.table.id}@${at.editVersion} has ${at.rowCount} rows, its layers ${written}`);
    const layers: Layer[] = [];
    let tooLarge = 0;
    for (const span of spans) {
      watch?.step();
      const file = await writeSpan(services, at, columns, span);
      watch?.wrote(file.key);
      // The estimate was too low: begin again with smaller files, while that is still possible.
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

/** Ranges of row ids with so many rows each. Only the ids are read. */
async function cutSpans(services: Services, at: TableAt, fileRows: number): Promise<Span[]> {
  const relation = await openUnmasked(services, { ...at, columns: [] });
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const reader = await connection.runAndReadAll(
      `SELECT min(id)::DOUBLE, max(id)::DOUBLE, count(*)::DOUBLE
       FROM (SELECT ${rowIdColumn} AS id, (row_number() OVER (ORDER BY ${rowIdColumn}) - 1) // ${fileRows} AS part FROM ${from})
       GROUP BY part ORDER BY part`,
    );
    return reader.getRows().map(([min, max, rows]) => ({ minRow: min as number, maxRow: max as number, rows: rows as number }));
  });
}

async function writeSpan(services: Services, at: TableAt, columns: WrittenColumn[], span: Span): Promise<WrittenFile> {
  const wide = isWide(columns) ? await writeWideSpan(services, at, columns, span) : null;
  if (wide) return wide;
  const relation = await openUnmasked(services, at, { min: span.minRow, max: span.maxRow });
  const file: FileColumn[] = [
    { id: fieldIds.rowId, name: rowIdColumn, type: 'BIGINT' },
    ...columns.map(({ id, type }) => ({ id, name: innerName(id), type })),
  ];
  const list = [rowIdColumn, ...columns.map(({ id, sql }) => `${sql} AS ${innerName(id)}`)].join(', ');
  return withRelation(services.engine, services.blobs, relation, (connection, from) =>
    writeSelect(services, tablePrefix(at.table), file, connection, `SELECT ${list} FROM ${from} ORDER BY ${rowIdColumn}`),
  );
}
