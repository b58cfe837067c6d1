import type { TableAt } from '../../core/table/table.ts';
import type { TransformDefinition } from '../../core/transforms/transform.ts';
import { openFiles } from '../../store/duckdb/relation.ts';
import type { Services } from '../../store/services.ts';
import { openRelation } from '../../store/tables/openRelation.ts';
import { type Asker, inTheirWords, type PlannedRun, planSql } from './planRun.ts';

/** What the result of a run may have, in either language. */
export const resultLimits = { maxRows: 5_000_000, maxBytes: 256 * 1024 * 1024 };

/** The result of a run, as a Parquet file that is the caller's. */
export interface RunResult {
  plan: PlannedRun;
  path: string;
}

export async function runSql(
  services: Services,
  asker: Asker,
  definition: TransformDefinition,
  before: TableAt | null,
): Promise<RunResult> {
  const { userId, signal } = asker;
  const { sql, names, ...plan } = await planSql(services, asker, definition, before);
  const sandbox = await services.sandbox();
  const relations = await Promise.all(plan.inputs.map(({ visible }) => openRelation(services, visible)));
  const blobs = await openFiles(services.blobs, relations);
  try {
    const { resultFile } = await inTheirWords(names, () =>
      sandbox.run({
        userId,
        sql,
        relations,
        pathOf: blobs.pathOf,
        pageLimit: 0,
        keepResult: true,
        ...resultLimits,
        timeoutMs: services.config.transformTimeMs,
        ...(signal ? { signal } : {}),
      }),
    );
    if (resultFile === null) throw new Error('the sandbox kept no result');
    return { plan, path: resultFile };
  } finally {
    blobs.release();
  }
}
