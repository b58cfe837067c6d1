import { type DuckDBConnection, type DuckDBType, DuckDBTypeId as Id } from '@duckdb/node-api';
import { deepestJson as deepest, findValueEnd } from '../../../../core/cells/jsonText.ts';
import { ChunkReader } from '../../formats/chunkReader.ts';
import { type JsonColumn, rowJson } from '../../json.ts';
import { Failed } from './errors.ts';

const tooDeep = () =>
  new Failed(`The result holds values that are nested more than ${deepest} levels deep. Take out the part that is wanted.`);

/** Refuses a column whose values are that deep by their type. */
export function refuseDeepType(type: DuckDBType, depth = 0): void {
  if (depth > deepest) throw tooDeep();
  if (type.typeId === Id.LIST || type.typeId === Id.ARRAY || type.typeId === Id.MAP) refuseDeepType(type.valueType, depth + 1);
  else if (type.typeId === Id.STRUCT) for (const entry of type.entryTypes) refuseDeepType(entry, depth + 1);
}

/** Refuses deep JSON, anywhere in the table of the result: later pages are read from there. */
export async function refuseDeepJson(own: DuckDBConnection, table: string, columns: JsonColumn[]): Promise<void> {
  const holders = columns.filter(({ type }) => String(type).includes('JSON'));
  if (holders.length === 0) return;
  const text = `SELECT CAST(${rowJson(holders)} AS VARCHAR) AS line FROM ${table}`;
  // Few values have so many brackets; these are looked at one by one.
  const brackets = `strlen(line) - strlen(replace(replace(line, '[', ''), '{', ''))`;
  const result = await own.stream(`SELECT line FROM (${text}) WHERE ${brackets} > ${deepest}`);
  const reader = new ChunkReader(own, result);
  try {
    for await (const chunk of reader)
      for (const line of chunk.getColumnValues(0)) if (findValueEnd(line as string, 0, deepest + 1) === null) throw tooDeep();
  } finally {
    await reader.close();
  }
}
