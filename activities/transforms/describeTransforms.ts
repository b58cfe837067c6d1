import type { Principal } from '../../core/access/principal.ts';
import { notFound } from '../../core/errors.ts';
import { decodeCursor, type Page, type PageQuery, pageOf } from '../../core/paging.ts';
import { type Freshness, fresh } from '../../core/transforms/transform.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import { findTransform, listTableNames, listTransforms, readFreshness, type TransformRecord } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';

export interface DescribedTransform {
  transform: TransformRecord;
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
  const ids = [...new Set(transforms.flatMap(({ args }) => Object.values(args)))];
  const [names, freshness] = await Promise.all([
    listTableNames(services.db.orm, ids),
    readFreshness(
      services.db.pool,
      transforms.map(({ id }) => id),
    ),
  ]);
  return Promise.all(
    transforms.map(async (transform) => ({
      transform: { ...transform, lastError: await describeError(services, principal, transform) },
      args: Object.fromEntries(Object.entries(transform.args).map(([arg, id]) => [arg, names.get(id) ?? id])),
      freshness: freshness.get(transform.id) ?? fresh,
    })),
  );
}

/** A transform that was stored just now and not run. `args` by name. */
export function describeSaved(transform: TransformRecord, args: Record<string, string>): DescribedTransform {
  return { transform, args, freshness: { staleSince: transform.updatedAt, moved: [] } };
}

/** The message of an engine may quote values, so it is for those who may see everything that the transform reads. */
async function describeError(services: Services, principal: Principal, { lastError, args }: TransformRecord): Promise<string | null> {
  if (lastError === null) return null;
  for (const at of await listTablesById(services.db.pool, Object.values(args)))
    if ((await openVisibleColumns(services, principal, at)).effects.size > 0) return 'The last run failed.';
  return lastError;
}
