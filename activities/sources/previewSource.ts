import { rm, writeFile } from 'node:fs/promises';
import { parseBlock } from '../../core/a1/block.ts';
import { DomainError } from '../../core/errors.ts';
import type { Range } from '../../core/grid/grid.ts';
import type { PictureFormat } from '../../store/charts/requests.ts';
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

const mostDrawn = 10_000;

/** A picture of cells of the original file with the regions that were found in it. */
export async function drawSource(
  services: Services,
  userId: string,
  source: SourceRecord,
  { sheet, range: text, as }: { sheet?: string; range?: string; as: PictureFormat },
): Promise<Buffer> {
  const range = readWanted(text);
  if ((range.bottom - range.top + 1) * (range.right - range.left + 1) > mostDrawn)
    throw new DomainError('too-large', `A picture shows ${mostDrawn} cells at most.`, 'Name a smaller block with `range`, such as A1:F50.');
  const regions = source.spec?.regions ?? [];
  const svg = await workOnFile(services, userId, source, { timeMs, firstRows: range.bottom }, (file) =>
    file.ask('drawSheet', { input: file.input, sheet: sheet ?? null, range, regions }),
  );
  return as === 'svg' ? svg : makePng(services, userId, svg);
}

/** By the processes that draw charts, which have fonts of their own. */
async function makePng(services: Services, userId: string, svg: Buffer): Promise<Buffer> {
  const path = await services.blobs.draft();
  try {
    await writeFile(path, svg);
    const processes = await services.chartProcesses();
    return await processes.use(
      userId,
      async (process) => (await process.ask({ op: 'rasterize', svgPath: await process.share(path) } as { op: string })) as Buffer,
      {},
    );
  } finally {
    await rm(path, { force: true });
  }
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
