import { parseBlock } from '../../core/a1/block.ts';
import { DomainError } from '../../core/errors.ts';
import type { Range } from '../../core/grid/grid.ts';
import { limitConcurrency } from '../../store/blobs/limitConcurrency.ts';
import type { SourceRecord } from '../../store/pg/sources.ts';
import { openRecords } from '../../store/records/openRecords.ts';
import type { Services } from '../../store/services.ts';
import { withSourceFile } from '../ingest/readSourceFile.ts';
import { previewInProcess } from './previewInProcess.ts';
import { readPreview } from './readPreview.ts';

const mostCells = 100_000;
const usual: Range = { top: 1, left: 1, bottom: 100, right: 50 };
/** Reading a file keeps a processor busy, so only two requests read at a time. */
const gate = limitConcurrency(2);

/** Cells of the original file, as the sheet shows them, as JSON. Strangers wrote the file, so it is read in a process of its own. */
export async function previewSource(services: Services, source: SourceRecord, wanted: { sheet?: string; range?: string }): Promise<string> {
  const range = readWanted(wanted.range);
  const { format, filename, accountId } = source;
  return gate(() =>
    withSourceFile(services, source, async (path) => {
      const asked = { path, format, filename, sheet: wanted.sheet ?? null, range };
      // The query processes read it.
      if (format !== 'parquet') return previewInProcess(asked);
      const open = () => openRecords(services, { path, format, accountId, firstRows: range.bottom });
      return JSON.stringify(await readPreview(asked, open));
    }),
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
