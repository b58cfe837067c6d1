import type { TableRecord } from '../../core/table/table.ts';
import type { Freshness } from '../../core/transforms/transform.ts';
import { listInputs, listTableNames } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';

/** Of the saved reviews among tables, by id: no transform makes them, but they tell of tables that move on. */
export async function findReportFreshness({ db }: Services, tables: TableRecord[]): Promise<Map<string, Freshness>> {
  const reports = tables.filter(({ type }) => type === 'report').map(({ id }) => id);
  if (reports.length === 0) return new Map();
  const moved = (await listInputs(db.orm, reports)).filter(({ staleSince }) => staleSince !== null);
  const names = await listTableNames(
    db.orm,
    moved.map(({ inputId }) => inputId),
  );
  return new Map(
    reports.map((id) => {
      const own = moved.filter(({ tableId }) => tableId === id);
      const since = own.flatMap(({ staleSince }) => staleSince ?? []).sort((a, b) => a.getTime() - b.getTime());
      return [id, { staleSince: since[0] ?? null, moved: own.map(({ inputId }) => names.get(inputId) ?? inputId).sort() }];
    }),
  );
}
