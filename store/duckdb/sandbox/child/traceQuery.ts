import { type QueryLineage, readPlan } from '../../../../core/lineage/readPlan.ts';
import { quoteText } from '../../relation.ts';
import type { PlanRequest, ResultColumn } from '../protocol.ts';
import type { Session } from './session.ts';

/** More than this to say is said as "everything depends on everything". */
const mostPlaces = 50_000;

/**
 * What each column of the result depends on, from the engine's plan of the query, which is not run. Null: every column depends on
 * everything, because the engine cannot write this plan down, or there is too much to say.
 */
export async function traceQuery(
  { user }: Session,
  sql: string,
  columns: ResultColumn[],
  tables: PlanRequest['tables'],
): Promise<QueryLineage | null> {
  // The function takes no parameter, only text that is written out.
  const call = `json_serialize_plan(${quoteText(sql)}, skip_null := true, skip_empty := true, optimize := false)`;
  const text = (await user.runAndReadAll(`SELECT CAST(${call} AS VARCHAR)`)).getRows()[0]?.[0];
  const { error, plans } = JSON.parse(String(text)) as { error: boolean; plans?: unknown[] };
  if (error || plans?.length !== 1) return null;
  const inputs = tables.map((table) => ({ name: table.name, columns: table.columns.map(({ name }) => name) }));
  const lineage = readPlan(
    plans[0],
    columns.map(({ name }) => name),
    inputs,
  );
  const places = lineage.columns.reduce((sum, each) => sum + each.computedFrom.length + each.decidedBy.length, lineage.rows.length);
  return places > mostPlaces ? null : lineage;
}
