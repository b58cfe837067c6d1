import { asSentence, DomainError } from '../../../core/errors.ts';
import { computeFormulas } from '../../../core/formula/computeFormulas.ts';
import type { Grid } from '../../../core/grid/grid.ts';
import { buildSelected, describeMisfit, type OutputTable, type ParseSpec, toContract } from '../../../core/structuring/index.ts';
import { readGrids } from './readInput.ts';
import type { FileInput, Reader } from './requests.ts';

/** Builds the chosen regions. Refuses values that do not fit the wanted type, naming their cell. */
export async function buildRegions(
  input: FileInput,
  spec: ParseSpec,
  regionIds: string[] | null,
): Promise<{ grids: Grid[]; tables: OutputTable[] }> {
  const { grids: stored } = await readGrids({ ...input, reader: spec.reader as Reader });
  const grids = computeFormulas(stored);
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
