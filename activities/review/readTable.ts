import { parseColumnType } from '../../core/cells/columnTypes.ts';
import type { Value } from '../../core/review/region.ts';
import { decodeBatch, readRowIds } from '../../core/table/textBatch.ts';
import { rowIdField, type VisibleColumn, type VisibleTable } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';
import { eachByteBatch } from '../../store/tables/readByteBatches.ts';

/** Of a table, however few its cells are. */
const mostBytes = 48 * 1024 * 1024;
/** Longer texts are told apart by their beginnings. */
const mostText = 300;

export interface ReadTable {
  visible: VisibleTable;
  columns: VisibleColumn[];
  rowIds: number[];
  /** By row, then by column. */
  rows: Value[][];
  isWhole: boolean;
}

/** The rows of a table as the caller may see them, as many as are looked at. Masked columns hold nothing to look at. */
export async function readTable(services: Services, visible: VisibleTable, signal?: AbortSignal): Promise<ReadTable> {
  const columns = visible.columns.filter(({ masked }) => !masked);
  const isNumber = columns.map(({ type }) => ['BIGINT', 'DOUBLE', 'DECIMAL'].includes(parseColumnType(type)?.kind ?? ''));
  const read: ReadTable = { visible, columns, rowIds: [], rows: [], isWhole: true };
  const limit = Math.max(1, Math.floor(services.config.reviewCells / Math.max(1, columns.length)));
  let bytes = 0;
  if (columns.length === 0 || visible.at.rowCount === 0) return read;
  await eachByteBatch(
    services,
    { visible, columns: [...columns, rowIdField] },
    async (batch) => {
      signal?.throwIfAborted();
      bytes += batch.columns.reduce((sum, column) => sum + column.bytes.length, 0);
      if (bytes > mostBytes) return;
      const { texts } = decodeBatch(batch);
      read.rowIds.push(...readRowIds(batch));
      for (let row = 0; row < batch.rowCount; row += 1)
        read.rows.push(columns.map((_, k) => toValue(texts[k]?.[row] ?? null, isNumber[k] === true)));
    },
    limit,
  );
  read.isWhole = read.rows.length === visible.at.rowCount;
  return read;
}

function toValue(text: string | null, isNumber: boolean): Value {
  if (text === null || text === '') return null;
  if (!isNumber) return text.slice(0, mostText);
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}
