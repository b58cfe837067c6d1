import { type DuckDBType, DuckDBTypeId as Id } from '@duckdb/node-api';
import { writeCsvLine } from '../../../core/cells/csvText.ts';
import { jsonExpression, textExpression } from '../json.ts';
import type { QueryColumn } from './describeQuery.ts';
import { copyText, readColumn } from './rawChunk.ts';
import type { RowWriter } from './rowWriter.ts';

/** CSV with a header, in UTF-8: the texts of JSON without its quotes, nothing for NULL, `""` for an empty text. */
export function makeCsvWriter(columns: QueryColumn[]): RowWriter {
  // Readers skip empty lines, so a NULL that is all of a row must not be one.
  const nothing = columns.length === 1 ? `'""'` : "''";
  return {
    select: (sqlOf) => {
      const cells = columns.map(({ type }, i) => `coalesce(${writeCell(sqlOf(i), type)}, ${nothing})`);
      return `concat_ws(',', ${cells.join(', ')}) || chr(10)`;
    },
    begin: () => Buffer.from(writeCsvLine(columns.map(({ name }) => name))),
    write: (chunk) => copyText(readColumn(chunk, 0)).bytes,
    end: () => Buffer.alloc(0),
  };
}

function writeCell(sql: string, type: DuckDBType): string {
  switch (type.typeId) {
    case Id.BOOLEAN:
    case Id.TINYINT:
    case Id.SMALLINT:
    case Id.INTEGER:
    case Id.BIGINT:
    case Id.HUGEINT:
    case Id.UTINYINT:
    case Id.USMALLINT:
    case Id.UINTEGER:
    case Id.UBIGINT:
    case Id.UHUGEINT:
      return `CAST(${sql} AS VARCHAR)`;
    case Id.FLOAT:
    case Id.DOUBLE:
      return `CAST(to_json(${jsonExpression(sql, type)}) AS VARCHAR)`;
    case Id.LIST:
    case Id.ARRAY:
    case Id.STRUCT:
    case Id.MAP:
      return quote(`CAST(to_json(${jsonExpression(sql, type)}) AS VARCHAR)`);
    case Id.VARCHAR:
      return quote(type.alias === 'JSON' ? `CAST(to_json(${jsonExpression(sql, type)}) AS VARCHAR)` : sql);
    case Id.DATE:
    case Id.TIME:
    case Id.TIMESTAMP:
    case Id.DECIMAL:
      return textExpression(sql, type);
    default:
      return quote(textExpression(sql, type));
  }
}

/** Quoted where it must be: RFC 4180, and empty texts. */
function quote(text: string): string {
  return `CASE WHEN ${text} = '' OR regexp_matches(${text}, '[",\\r\\n]') THEN '"' || replace(${text}, '"', '""') || '"' ELSE ${text} END`;
}
