import type { Principal } from '../../core/access/principal.ts';
import { notFound } from '../../core/errors.ts';
import type { Flows } from '../../core/lineage/flows.ts';
import { decodeCursor, type Page, type PageQuery, pageOf } from '../../core/paging.ts';
import { type DeniedColumn, mayShowTemplate } from '../../core/transforms/mayShowTemplate.ts';
import { type Freshness, fresh } from '../../core/transforms/transform.ts';
import { listColumnsEverOf } from '../../store/pg/columns.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import {
  findTransform,
  listInputs,
  listTableNames,
  listTransforms,
  readFreshness,
  type TransformRecord,
} from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';

export interface DescribedTransform {
  /** Template null: it names or uses a column that is denied to the caller. */
  transform: Omit<TransformRecord, 'template'> & { template: string | null };
  /** Argument to the table's name. */
  args: Record<string, string>;
  freshness: Freshness;
}

const usualTransforms = 100;

/** The transforms of a workbook, by name. */
export async function pageTransforms(
  services: Services,
  principal: Principal,
  workbookId: string,
  query: PageQuery,
): Promise<Page<DescribedTransform>> {
  const after = decodeCursor(query.cursor, ['string']);
  const page = await pageOf(
    query.limit ?? usualTransforms,
    (limit) => listTransforms(services.db.orm, workbookId, after && (after[0] as string), limit),
    ({ name }) => [name.toLowerCase()],
  );
  return { ...page, items: await describeTransforms(services, principal, page.items) };
}

export async function requireTransform(services: Services, workbookId: string, name: string): Promise<TransformRecord> {
  const found = await findTransform(services.db.orm, workbookId, name);
  if (!found) throw notFound('transform in this workbook', 'GET …/transforms lists the transforms of the workbook.');
  return found;
}

export async function describeTransforms(
  services: Services,
  principal: Principal,
  transforms: TransformRecord[],
): Promise<DescribedTransform[]> {
  const inputIds = transforms.flatMap(({ args }) => Object.values(args));
  const outputIds = transforms.flatMap(({ outputId }) => outputId ?? []);
  const [names, freshness, hidden, read] = await Promise.all([
    listTableNames(services.db.orm, [...new Set(inputIds)]),
    readFreshness(
      services.db.pool,
      transforms.map(({ id }) => id),
    ),
    readHidden(services, principal, [...new Set([...inputIds, ...outputIds])]),
    listInputs(services.db.orm, outputIds),
  ]);
  const flowsOf = ({ outputId }: TransformRecord) =>
    new Map(read.filter(({ tableId }) => tableId === outputId).map(({ inputId, flows }) => [inputId, flows]));
  return transforms.map((transform) => ({
    transform: { ...transform, ...hideFrom(transform, hidden, flowsOf(transform)) },
    args: Object.fromEntries(Object.entries(transform.args).map(([arg, id]) => [arg, names.get(id) ?? id])),
    freshness: freshness.get(transform.id) ?? fresh,
  }));
}

/** A transform that was stored just now and not run. `args` by name. */
export function describeSaved(transform: TransformRecord, args: Record<string, string>): DescribedTransform {
  return { transform, args, freshness: { staleSince: transform.updatedAt, moved: [] } };
}

/** The columns of a table that are hidden from somebody: how many, and those that are denied. */
interface HiddenColumns {
  count: number;
  denied: DeniedColumn[];
}

/** By id of the table, also of columns that it has no longer. */
async function readHidden(services: Services, principal: Principal, tableIds: string[]): Promise<Map<string, HiddenColumns>> {
  const [tables, columns] = await Promise.all([listTablesById(services.db.pool, tableIds), listColumnsEverOf(services.db.orm, tableIds)]);
  const found = tables.map(async ({ table }): Promise<[string, HiddenColumns]> => {
    const ever = columns.get(table.id) ?? [];
    const { effects } = await openVisibleColumns(services, principal, { table, columns: ever });
    const denied = ever.filter(({ id }) => effects.get(id) === 'deny').map(({ id, names }) => ({ tableId: table.id, id, names }));
    return [table.id, { count: effects.size, denied }];
  });
  return new Map(await Promise.all(found));
}

/** What a transform says to somebody from whom columns of its tables are hidden. */
function hideFrom(
  transform: TransformRecord,
  hidden: ReadonlyMap<string, HiddenColumns>,
  flows: ReadonlyMap<string, Flows | null>,
): Pick<DescribedTransform['transform'], 'template' | 'key' | 'lastError'> {
  const { args, outputId, revision, runRevision, template, key, lastError } = transform;
  const inputs = Object.values(args).flatMap((id) => hidden.get(id) ?? []);
  const denied = [...inputs, hidden.get(outputId ?? '')].flatMap((each) => each?.denied ?? []);
  const isDenied = (name: string) => denied.some(({ names }) => names.has(name));
  return {
    template: mayShowTemplate(transform, denied, runRevision === revision ? flows : null) ? template : null,
    key: key?.filter((name) => !isDenied(name)) ?? null,
    // The message of an engine may quote values, so it is for those who may see everything that the transform reads.
    lastError: lastError !== null && inputs.some(({ count }) => count > 0) ? 'The last run failed.' : lastError,
  };
}
