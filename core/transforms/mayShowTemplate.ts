import { type Flows, listUsedColumns } from '../lineage/flows.ts';
import type { TransformDefinition } from './transform.ts';

/** A column of a table that a transform reads or writes, which is denied to somebody. */
export interface DeniedColumn {
  tableId: string;
  id: number;
  /** Every name that it ever had. */
  names: ReadonlySet<string>;
}

/**
 * Whether somebody to whom these columns are denied may see the template: it must neither use nor name one of them. `flows`: what
 * its run has used, by id of the input; null: it was not run, so that nothing is known.
 */
export function mayShowTemplate(
  { language, template }: Pick<TransformDefinition, 'language' | 'template'>,
  denied: readonly DeniedColumn[],
  flows: ReadonlyMap<string, Flows | null> | null,
): boolean {
  if (denied.length === 0) return true;
  // Python can spell a name in many ways.
  if (language === 'python' || flows === null) return false;
  const text = simplify(template);
  const uses = (all: Flows | null | undefined, id: number) => all !== undefined && (all === null || listUsedColumns(all).includes(id));
  return !denied.some(({ tableId, id, names }) => uses(flows.get(tableId), id) || [...names].some((name) => text.includes(simplify(name))));
}

/** Case does not count, and quotes in quoted names are written twice. */
const simplify = (text: string) => text.toLowerCase().replaceAll('""', '"');
