import { decodeCursor, encodeCursor } from '../../core/paging.ts';
import type { FileLinkVersion, ListedLink } from '../../store/pg/fileLinks.ts';
import type { Services } from '../../store/services.ts';
import type { SheetDiff } from '../ingest/fileProgram/diffSheets.ts';
import type { CellPage } from '../ingest/fileProgram/readCells.ts';
import { withSourceFile } from '../ingest/readSourceFile.ts';
import { workOnFile } from '../ingest/workOnFile.ts';

const usualLimit = 1000;
const timeMs = 60_000;

/** A page of the cells of a version, as the sheet shows them. Strangers wrote the file, so it is read in a process of its own. */
export async function readVersionCells(
  services: Services,
  userId: string,
  version: FileLinkVersion,
  wanted: { sheet?: string; cursor?: string; limit?: number },
): Promise<Omit<CellPage, 'last'> & { nextCursor: string | null }> {
  const { sheet = null, limit = usualLimit } = wanted;
  const after = decodeCursor(wanted.cursor, ['number', 'number']) as [number, number] | null;
  const answer = await workOnFile(services, userId, version, { timeMs }, (open) =>
    open.ask('readCells', { input: open.input, sheet, after, limit }),
  );
  const { last, ...page } = JSON.parse(answer.toString('utf8')) as CellPage;
  return { ...page, nextCursor: last && encodeCursor(last) };
}

/** The cells that differ from another version; null: from nothing. */
export async function diffVersions(
  services: Services,
  userId: string,
  { name: filename }: ListedLink,
  sides: { before: FileLinkVersion | null; after: FileLinkVersion },
  limit = usualLimit,
): Promise<SheetDiff[]> {
  const { before, after } = sides;
  const answer = await workOnFile(services, userId, { ...after, filename }, { timeMs }, async (open) => {
    if (!before) return open.ask('diffSheets', { left: null, right: open.input, limit });
    return withSourceFile(services, before, async (path) => {
      const left = { path: await open.share(path), format: before.format, filename };
      return open.ask('diffSheets', { left, right: open.input, limit });
    });
  });
  return JSON.parse(answer.toString('utf8')) as SheetDiff[];
}
