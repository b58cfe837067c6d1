import { rm } from 'node:fs/promises';
import { DomainError } from '../../core/errors.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import type { TableAt } from '../../core/table/table.ts';
import { openFiles } from '../../store/duckdb/relation.ts';
import { listOverrides } from '../../store/pg/overrides.ts';
import type { Services } from '../../store/services.ts';
import { openRelation } from '../../store/tables/openRelation.ts';
import { type DerivedRows, writeDerived } from '../../store/tables/writeDerived.ts';
import type { ActivityContext } from '../activityContext.ts';
import { inTheirWords, type PlannedRun } from './planRun.ts';

const limits = { maxRows: 5_000_000, maxBytes: 256 * 1024 * 1024 };

export type WrittenRows = Exclude<DerivedRows, { kind: 'faulty' }>;

/** Runs the SQL behind the walls of queries, and writes its rows as files of the output. */
export async function executeRun(
  services: Services,
  userId: string,
  plan: PlannedRun,
  output: { before: TableAt | null; prefix: string },
  activity: ActivityContext,
): Promise<WrittenRows> {
  const path = await inTheirWords(plan.names, () => runSql(services, userId, plan, activity));
  try {
    const { columns, key } = plan.output;
    const watch = { step: () => activity.signal?.throwIfAborted(), wrote() {}, async dropAll() {} };
    const overrides = output.before ? await listOverrides(services.db.pool, output.before.table.id, null) : [];
    const rows = await writeDerived(services, { path, columns, key, overrides, ...output }, compactionLimits, watch);
    if (rows.kind === 'faulty') throw refuseRows(rows.fault);
    return rows;
  } finally {
    await rm(path, { force: true });
  }
}

/** Returns the path of the result's file, which is the caller's. */
async function runSql(services: Services, userId: string, plan: PlannedRun, { signal }: ActivityContext): Promise<string> {
  const sandbox = await services.sandbox();
  const relations = await Promise.all(plan.inputs.map(({ visible }) => openRelation(services, visible)));
  const blobs = await openFiles(services.blobs, relations);
  try {
    const { resultFile } = await sandbox.run({
      userId,
      sql: plan.sql,
      relations,
      pathOf: blobs.pathOf,
      pageLimit: 0,
      keepResult: true,
      ...limits,
      timeoutMs: services.config.transformTimeMs,
      ...(signal ? { signal } : {}),
    });
    if (resultFile === null) throw new Error('the sandbox kept no result');
    return resultFile;
  } finally {
    blobs.release();
  }
}

function refuseRows(fault: Extract<DerivedRows, { kind: 'faulty' }>['fault']): DomainError {
  if (fault.of === 'range')
    return new DomainError(
      'query-failed',
      `The column ${fault.column} holds a whole number beyond BIGINT.`,
      'Cast it to DECIMAL(38,0) or DOUBLE in the template.',
    );
  const what = [
    ...(fault.nulls > 0 ? [`${fault.nulls} rows without a key`] : []),
    ...(fault.doubles > 0 ? [`${fault.doubles} keys that several rows have`] : []),
  ];
  return new DomainError(
    'query-failed',
    `The result has ${what.join(' and ')}.`,
    'Name key columns that identify every row of the result, or leave `key` out.',
  );
}
