import { parseBlock } from '../../core/a1/block.ts';
import { DomainError } from '../../core/errors.ts';
import type { Range } from '../../core/grid/grid.ts';
import type { SourceRecord } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import { workOnFile } from '../ingest/workOnFile.ts';

const mostCells = 100_000;
const usual: Range = { top: 1, left: 1, bottom: 100, right: 50 };
const timeMs = 30_000;

/** Cells of the original file, as the sheet shows them, as JSON. Strangers wrote the file, so it is read in a process of its own. */
export async function previewSource(
  services: Services,
  userId: string,
  source: SourceRecord,
  wanted: { sheet?: string; range?: string },
): Promise<Buffer> {
  const range = readWanted(wanted.range);
  return workOnFile(services, userId, source, { timeMs, firstRows: range.bottom }, (file) =>
    file.ask('preview', { input: file.input, sheet: wanted.sheet ?? null, range }),
  );
}

function readWanted(text: string | undefined): Range {
  if (text === undefined) return usual;
  const parsed = parseBlock(text);
  const why = !parsed.ok
    ? parsed.why
    : (parsed.block.bottom - parsed.block.top + 1) * (parsed.block.right - parsed.block.left + 1) > mostCells
      ? `has more than ${mostCells} cells`
      : null;
  if (parsed.ok && why === null) return parsed.block;
  throw new DomainError('validation-failed', `/query/range: ${why}.`, 'Name a block of at most 100,000 cells, such as A1:F50.', {
    errors: [{ pointer: '/query/range', detail: why ?? '' }],
  });
}
