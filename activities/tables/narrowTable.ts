import { DomainError } from '../../core/errors.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { QueryPlan } from '../../store/duckdb/sandbox/sandbox.ts';
import { isWide } from '../../store/duckdb/wide.ts';

/** Of a wide table only the columns with these names, of others all: what an engine is not asked for, it need not plan. */
export function keepNamed(at: TableAt, names: Iterable<string>): TableAt {
  if (!isWide(at.columns)) return at;
  const kept = new Set([...names].map((name) => name.toLowerCase()));
  return { ...at, columns: at.columns.filter(({ name }) => kept.has(name.toLowerCase())) };
}

/** Columns of one table that a query can read: an engine needs memory for each, and a process has little. */
export const mostQueried = 1_000;

export const tooWide = ({ table, columns }: TableAt): string =>
  `${columns.length} columns of ${table.name} are more than one query can read, which is ${mostQueried}.`;

/** What a query needs of the columns of wide tables. */
export function narrowForQuery(tables: TableAt[], plan: Pick<QueryPlan, 'columns' | 'allColumns'>): TableAt[] {
  const needed = plan.allColumns ? tables : tables.map((at) => keepNamed(at, plan.columns));
  const widest = needed.find(({ columns }) => columns.length > mostQueried);
  if (!widest) return needed;
  throw new DomainError(
    'query-too-large',
    tooWide(widest),
    'Name the columns that the query needs instead of *, in several queries if they are many; GET …/rows gives whole rows.',
    { errors: [{ pointer: '/sql', detail: tooWide(widest) }] },
  );
}
