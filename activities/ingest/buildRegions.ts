import { asSentence, DomainError } from '../../core/errors.ts';
import type { Grid } from '../../core/grid/grid.ts';
import { buildSelected, describeMisfit, type OutputTable, type ParseSpec, toContract } from '../../core/structuring/index.ts';
import type { SourceRecord } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { type Reader, readGrids } from './readSourceFile.ts';

/** Builds the chosen regions. Refuses values that do not fit the wanted type, naming their cell. */
export async function buildRegions(
  services: Services,
  source: SourceRecord,
  regionIds: string[] | null,
  activity: ActivityContext,
): Promise<{ grids: Grid[]; tables: OutputTable[] }> {
  const spec = source.spec as ParseSpec;
  const { grids } = await readGrids(services, source, { reader: spec.reader as Reader, signal: activity.signal });
  const { tables, misfits } = buildSelected(grids, spec, regionIds);
  const problems = misfits.map((misfit) => describeMisfit(toContract(spec), misfit));
  if (problems.length === 0) return { grids, tables };
  throw new DomainError(
    'uncastable-value',
    asSentence(problems[0]?.message ?? ''),
    'Correct the type in the parse spec, or the cell in the file.',
    {
      errors: problems.map(({ pointer, message }) => ({ pointer, detail: message })),
    },
  );
}
