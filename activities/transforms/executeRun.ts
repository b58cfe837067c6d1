import { rm } from 'node:fs/promises';
import { DomainError } from '../../core/errors.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { TransformDefinition } from '../../core/transforms/transform.ts';
import { listOverrides } from '../../store/pg/overrides.ts';
import type { Services } from '../../store/services.ts';
import { type DerivedRows, writeDerived } from '../../store/tables/writeDerived.ts';
import type { Asker, PlannedRun } from './planRun.ts';
import { runPython } from './runPython.ts';
import { runSql } from './runSql.ts';

export type WrittenRows = Exclude<DerivedRows, { kind: 'faulty' }>;

export interface ExecutedRun {
  plan: PlannedRun;
  rows: WrittenRows;
}

/** Runs a transform behind the walls of queries, and writes the rows that it makes as files of the output. */
export async function executeRun(
  services: Services,
  asker: Asker,
  definition: TransformDefinition,
  output: { before: TableAt | null; prefix: string },
): Promise<ExecutedRun> {
  const run = definition.language === 'python' ? runPython : runSql;
  const overrides = output.before ? listOverrides(services.db.pool, output.before.table.id, null) : Promise.resolve([]);
  // A failure is met where they are needed.
  overrides.catch(() => {});
  const { plan, path } = await run(services, asker, definition, output.before);
  try {
    const { columns, key } = plan.output;
    const watch = { step: () => asker.signal?.throwIfAborted(), wrote() {}, async dropAll() {} };
    const rows = await writeDerived(
      services,
      { path, columns, key, overrides: await overrides, keepsOverrides: definition.materialize === 'table', ...output },
      compactionLimits,
      watch,
    );
    if (rows.kind === 'faulty') throw refuseRows(rows.fault);
    return { plan, rows };
  } finally {
    await rm(path, { force: true });
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
