import { createHash } from 'node:crypto';
import type { QueryLineage } from '../../../core/lineage/readPlan.ts';
import type { ResultColumn } from './protocol.ts';

export interface PlannedQuery {
  tables: string[];
  columns: ResultColumn[];
  lineage: QueryLineage;
  /** Whether it takes all columns of a table, whatever there are. */
  allColumns: boolean;
}

const mostPlans = 1_000;
const mostPlaces = 1_000;

/** Plans by query and columns of its tables, on which alone they depend; those used last are kept. */
export class KnownPlans {
  private readonly plans = new Map<string, PlannedQuery>();

  static keyOf(sql: string, tables: object): string {
    return createHash('sha256')
      .update(JSON.stringify([sql, tables]))
      .digest('base64');
  }

  find(key: string): PlannedQuery | null {
    const plan = this.plans.get(key);
    if (!plan) return null;
    this.plans.delete(key);
    this.plans.set(key, plan);
    return plan;
  }

  /** Long ones are not kept. */
  keep(key: string, plan: PlannedQuery): void {
    const { columns, rows } = plan.lineage;
    const places = columns.reduce((sum, { computedFrom, decidedBy }) => sum + 1 + computedFrom.length + decidedBy.length, rows.length);
    if (places > mostPlaces) return;
    this.plans.set(key, plan);
    const [oldest] = this.plans.keys();
    if (this.plans.size > mostPlans && oldest !== undefined) this.plans.delete(oldest);
  }
}
