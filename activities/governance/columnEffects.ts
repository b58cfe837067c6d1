import type { Principal } from '../../core/access/principal.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { ColumnEffect } from '../../store/duckdb/buildRelation.ts';
import type { Services } from '../../store/services.ts';

/** What the policies do to a table's columns for a principal, by column id. The one place every reader asks. */
export async function columnEffects(
  _services: Services,
  _principal: Principal,
  _at: Pick<TableAt, 'table' | 'columns'>,
): Promise<Map<number, ColumnEffect>> {
  return new Map();
}
