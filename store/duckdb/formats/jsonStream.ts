import { rowJson } from '../json.ts';
import type { QueryColumn } from './describeQuery.ts';
import { copyText, readColumn } from './rawChunk.ts';
import type { RowWriter } from './rowWriter.ts';

/** One JSON object per line. DuckDB writes the line breaks too, so that its memory can be sent unchanged. */
export function makeNdjsonWriter(columns: QueryColumn[]): RowWriter {
  return {
    select: (sqlOf) => `${selectRow(columns, sqlOf)} || chr(10)`,
    begin: () => Buffer.alloc(0),
    write: (chunk) => copyText(readColumn(chunk, 0)).bytes,
    end: () => Buffer.alloc(0),
  };
}

/** A JSON array of objects. */
export function makeJsonWriter(columns: QueryColumn[]): RowWriter {
  let isFirst = true;
  return {
    select: (sqlOf) => `',' || ${selectRow(columns, sqlOf)}`,
    begin: () => Buffer.from('['),
    write(chunk) {
      const rows = copyText(readColumn(chunk, 0)).bytes;
      if (!isFirst) return rows;
      isFirst = false;
      return rows.subarray(1);
    },
    end: () => Buffer.from(']'),
  };
}

function selectRow(columns: QueryColumn[], sqlOf: (index: number) => string): string {
  return `CAST(${rowJson(columns.map(({ name, type }, i) => ({ name, type, sql: sqlOf(i) })))} AS VARCHAR)`;
}
