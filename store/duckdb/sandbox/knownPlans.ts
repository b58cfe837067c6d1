import { createHash } from 'node:crypto';
import type { QueryLineage } from '../../../core/lineage/readPlan.ts';
import { Recent } from '../../recent.ts';
import type { ResultColumn } from './protocol.ts';

export interface PlannedQuery {
  tables: string[];
  columns: ResultColumn[];
  lineage: QueryLineage;
  /** Whether it takes all columns of a table, whatever there are. */
  allColumns: boolean;
}

const mostPlaces = 1_000;

/** Plans by query and columns of its tables, on which alone they depend; those used last are kept. */
export class KnownPlans {
  private readonly plans = new Recent<PlannedQuery>(1_000);

  static keyOf(sql: string, tables: object): string {
    return createHash('sha256')
      .update(JSON.stringify([sql, tables]))
      .digest('base64');
  }

  find(key: string): PlannedQuery | null {
    return this.plans.get(key) ?? null;
  }

  /** Long ones are not kept. */
  keep(key: string, plan: PlannedQuery): void {
    const { columns, rows } = plan.lineage;
    const places = columns.reduce((sum, { computedFrom, decidedBy }) => sum + 1 + computedFrom.length + decidedBy.length, rows.length);
    if (places <= mostPlaces) this.plans.set(key, plan);
  }
}
