import { parseBlock } from '../../core/a1/block.ts';
import { DomainError, type ProblemItem } from '../../core/errors.ts';
import type { Range } from '../../core/grid/grid.ts';
import { rowIdColumn } from '../../store/duckdb/buildRelation.ts';
import { readAll, withRelation } from '../../store/duckdb/engine.ts';
import type { TableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { openUnmasked } from '../tables/openTable.ts';

export function refuseRange(...errors: ProblemItem[]): DomainError {
  const [first] = errors;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  return new DomainError(
    'validation-failed',
    `${first?.pointer}: ${first?.detail}${more}.`,
    'Correct what `errors` lists; nothing was changed.',
    {
      errors,
    },
  );
}

export function requireBlock(text: string, pointer: string): Range {
  const parsed = parseBlock(text);
  if (!parsed.ok) throw refuseRange({ pointer, detail: parsed.why });
  return parsed.block;
}

/** The ids of the rows at some positions, in row order. The ids alone are read, whatever the rows hold. */
export async function findRowIds(services: Services, at: TableAt, offset: number, count: number): Promise<number[]> {
  if (count <= 0 || offset >= at.rowCount) return [];
  const relation = await openUnmasked(services, { ...at, columns: [] });
  return withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const rows = await readAll(
      connection,
      `SELECT CAST(${rowIdColumn} AS DOUBLE) FROM ${from} ORDER BY ${rowIdColumn} LIMIT ${count} OFFSET ${offset}`,
    );
    return rows.map(([id]) => id as number);
  });
}
