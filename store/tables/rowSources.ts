import { rowIdColumn } from '../../core/table/table.ts';
import { type RowSource, valueLength } from '../duckdb/formats/rowParts.ts';
import { quoteName } from '../duckdb/relation.ts';
import { parseTypeName } from '../duckdb/typeNames.ts';
import type { Projection } from './projection.ts';

export interface IdSpan {
  min: number;
  max: number;
}

/** A table's rows in row order, by ranges of ids. */
export function describeRows({ columns }: Projection): Omit<RowSource<IdSpan>, 'spans' | 'open'> {
  const names = columns.map(({ name }) => quoteName(name)).join(', ');
  return {
    columns: columns.map(({ name, type }) => ({ name, type: parseTypeName(type) })),
    select: (from) => `SELECT ${names} FROM ${from} ORDER BY ${rowIdColumn}`,
    place: rowIdColumn,
    lengths: columns.flatMap(({ name, type }) => valueLength(quoteName(name), type)),
    divide: (_, counts, ids) => divideList(counts, ids).map((part) => ({ min: part[0] as number, max: part.at(-1) as number })),
  };
}

export function divideList(counts: number[], ids: number[]): number[][] {
  let before = 0;
  return counts.map((count) => {
    before += count;
    return ids.slice(before - count, before);
  });
}
