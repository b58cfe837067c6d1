import { formatColumnType, parseColumnType } from '../cells/columnTypes.ts';

/** How a value of a result becomes a value of a table. */
export type Conversion = 'as-is' | 'whole-number' | 'finite' | 'utc' | 'json' | 'text';

const wholeNumbers = /^(U?TINYINT|U?SMALLINT|U?INTEGER|BIGINT|UBIGINT|U?HUGEINT|BIGNUM)$/;
const times = /^(DATE|TIMESTAMP|TIMESTAMP_S|TIMESTAMP_MS|TIMESTAMP_NS)$/;
const nested = /\]$|^(STRUCT|MAP)\(/;

/** The type of a table's column for the type of a result's column. What tables do not know becomes text or JSON. */
export function chooseOutputType(resultType: string): { type: string; conversion: Conversion } {
  if (wholeNumbers.test(resultType)) return { type: 'BIGINT', conversion: 'whole-number' };
  if (resultType === 'FLOAT' || resultType === 'DOUBLE') return { type: 'DOUBLE', conversion: 'finite' };
  if (times.test(resultType)) return { type: resultType === 'DATE' ? 'DATE' : 'TIMESTAMP', conversion: 'finite' };
  if (resultType === 'TIMESTAMP WITH TIME ZONE') return { type: 'TIMESTAMP', conversion: 'utc' };
  if (nested.test(resultType)) return { type: 'JSON', conversion: 'json' };
  const type = parseColumnType(resultType);
  return type ? { type: formatColumnType(type), conversion: 'as-is' } : { type: 'VARCHAR', conversion: 'text' };
}
