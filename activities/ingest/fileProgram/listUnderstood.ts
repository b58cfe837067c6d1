import { DomainError } from '../../../core/errors.ts';
import type { BuildResult } from '../../../core/structuring/index.ts';

/** Sheets that were structured with no cell lost or used twice. The others stay raw; if there are none, structuring has failed. */
export function listUnderstood(result: BuildResult): Set<string> {
  const raw = new Set(result.rawSheets.map(({ sheet }) => sheet));
  const understood = new Set(result.tables.flatMap(({ sheet }) => (raw.has(sheet) ? [] : [sheet])));
  for (const { sheet, lost, twice } of result.conservation) if (lost.length + twice.length > 0) understood.delete(sheet);
  if (understood.size > 0) return understood;
  throw new DomainError(
    'validation-failed',
    result.rawSheets[0]?.reason ?? 'no table was found',
    'Use the raw tables, or the staged mode.',
  );
}
