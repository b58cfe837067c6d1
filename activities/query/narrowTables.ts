import { DomainError } from '../../core/errors.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import type { QueryPlan } from '../../store/duckdb/sandbox/sandbox.ts';
import { keepNamed } from '../../store/tables/projection.ts';

/** How many columns of one table a query can read: DuckDB needs memory for each, and a query process has little. */
export const mostQueried = 1_000;

export const describeTooWide = ({ at, columns }: VisibleTable): string =>
  `${columns.length} columns of ${at.table.name} are more than one query can read, which is ${mostQueried}.`;

/** Reduces wide tables to the columns that the query needs. */
export function narrowTables(tables: VisibleTable[], plan: Pick<QueryPlan, 'columns' | 'allColumns'>): VisibleTable[] {
  const needed = plan.allColumns ? tables : tables.map((visible) => keepNamed(visible, plan.columns));
  const widest = needed.find(({ columns }) => columns.length > mostQueried);
  if (!widest) return needed;
  throw new DomainError(
    'query-too-large',
    describeTooWide(widest),
    'Name the columns that the query needs instead of *, in several queries if they are many; GET …/rows gives whole rows.',
    { errors: [{ pointer: '/sql', detail: describeTooWide(widest) }] },
  );
}
