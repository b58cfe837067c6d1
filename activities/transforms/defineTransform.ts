import { DomainError } from '../../core/errors.ts';
import { escapePointer } from '../../core/jsonPointer.ts';
import { orderByDependency } from '../../core/lineage/order.ts';
import { findNameFault, findTableNameFault } from '../../core/table/nameFaults.ts';
import type { TransformDefinition } from '../../core/transforms/transform.ts';
import type { Orm } from '../../store/pg/database.ts';
import { findCurrentTable } from '../../store/pg/tables.ts';
import { findTransform, listTableNames, readGraph, type TransformRecord } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';
import { nameTaken, refuseTakenName } from '../tables/takenNames.ts';
import { faulty, requireBound, requireBuilt } from './planRun.ts';

/** A transform as it is asked for, with tables by name. */
export type WantedTransform = Omit<TransformDefinition, 'output'> & { output: string | null };

export interface CheckedTransform {
  definition: TransformDefinition;
  /** The one that it replaces. */
  replaced: TransformRecord | null;
}

/** Refuses what can be told without running it. */
export async function checkDefinition(services: Services, workbookId: string, wanted: WantedTransform): Promise<CheckedTransform> {
  refuseNames(wanted);
  requireBuilt(wanted);
  const replaced = await findTransform(services.db.orm, workbookId, wanted.name);
  const definition = {
    ...wanted,
    name: replaced?.name ?? wanted.name,
    output: wanted.output ?? replaced?.output ?? wanted.name,
    args: await findInputs(services, workbookId, wanted.args),
  };
  if (definition.language === 'sql') requireBound(definition);
  const taken = await findCurrentTable(services.db, workbookId, definition.output);
  if (taken && taken.table.state === 'active' && taken.table.id !== replaced?.outputId) throw nameTaken(definition.output);
  await refuseTakenName(services.db.pool, workbookId, definition.output, 'table');
  await refuseCycle(services.db, workbookId, definition, replaced);
  return { definition, replaced };
}

function refuseNames({ name, output, key }: WantedTransform): void {
  const faults = [
    { pointer: '/name', detail: findNameFault(name) ?? (output === null ? findTableNameFault(name) : null) },
    { pointer: '/output', detail: output === null ? null : findTableNameFault(output) },
    ...(key ?? []).map((column, i) => ({
      pointer: `/key/${i}`,
      detail: key?.indexOf(column) === i ? null : 'names a column that is in the key already',
    })),
  ].flatMap(({ pointer, detail }) => (detail === null ? [] : [{ pointer, detail }]));
  if (faults.length > 0) throw faulty(faults);
}

async function findInputs(services: Services, workbookId: string, args: Record<string, string>): Promise<Record<string, string>> {
  const found = await Promise.all(
    Object.entries(args).map(async ([arg, name]) => ({ arg, name, at: await findCurrentTable(services.db, workbookId, name) })),
  );
  const faults = found.flatMap(({ arg, name, at }) =>
    at?.table.state === 'active'
      ? []
      : [{ pointer: `/args/${escapePointer(arg)}`, detail: `there is no active table ${name} in this workbook` }],
  );
  if (faults.length > 0) throw faulty(faults);
  return Object.fromEntries(found.map(({ arg, at }) => [arg, at?.table.id ?? '']));
}

/** Refuses a transform whose output one of its inputs is made from. */
export async function refuseCycle(
  { orm, pool }: { orm: Orm; pool: Parameters<typeof readGraph>[0] },
  workbookId: string,
  { args }: TransformDefinition,
  replaced: TransformRecord | null,
): Promise<void> {
  const outputId = replaced?.outputId ?? null;
  // Nothing reads an output that was never made.
  if (outputId === null) return;
  const nodes = (await readGraph(pool, workbookId)).filter(({ id }) => id !== replaced?.id);
  const edges = [{ outputId, inputIds: Object.values(args) }, ...nodes].flatMap((node) =>
    node.outputId === null ? [] : node.inputIds.map((input) => ({ input, output: node.outputId as string })),
  );
  const ordered = orderByDependency(new Set(edges.flatMap(({ input, output }) => [input, output])), edges);
  if (ordered.outcome === 'ordered') return;
  const names = await listTableNames(orm, ordered.path);
  const path = ordered.path.map((id) => names.get(id) ?? id);
  throw new DomainError(
    'cycle',
    `The output would be made from itself: ${path.join(' → ')}.`,
    'Let the transform read tables that are not made from its output.',
    { errors: [{ pointer: '/args', detail: path.join(' → ') }] },
  );
}
