import { basename, extname } from 'node:path';
import { MAX_ROWS } from '../../core/a1/address.ts';
import type { RecordFormat } from '../../core/records/records.ts';
import { baseOfFile } from '../../core/structuring/names/names.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import type { IngestJob } from '../../store/pg/jobs.ts';
import type { LandedTable, SourceRecord } from '../../store/pg/sources.ts';
import { listTablesById, reserveRows } from '../../store/pg/tables.ts';
import { makeId, type Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { reportProgress } from '../jobs/reportProgress.ts';
import { findNaming } from './findNaming.ts';
import type { RawDraft } from './landTables.ts';
import { nameAsLanded } from './listMadeTables.ts';
import type { SourceFile } from './readSourceFile.ts';
import { workOnFile } from './workOnFile.ts';

/** Writes the one table of a file of records, with the types that the file gives. A revision goes into the existing table. */
export async function scanRecords(
  services: Services,
  job: IngestJob,
  source: SourceRecord,
  file: SourceFile & { format: RecordFormat },
  landed: LandedTable[],
  activity: ActivityContext,
): Promise<RawDraft> {
  const before = (await listTablesById(services.db.pool, landed.map(({ table }) => table.id).slice(0, 1)))[0];
  const tableId = before?.table.id ?? makeId('tbl');
  const firstRowId = before ? await reserveRows(services.db.pool, tableId, MAX_ROWS) : 1;
  const choice = await findNaming(services.db.orm, source.workbookId);
  const progress = reportProgress(services, job.id, 'read');
  const { columns, rows, layers } = await workOnFile(services, job.userId, file, activity, async (open) => {
    const written = await open.ask(
      'writeRecords',
      {
        input: open.input,
        sourceName: source.name,
        choice,
        before: before ? await nameAsLanded(services.db.orm, before, landed) : null,
        lastRowId: firstRowId - 1,
      },
      ({ done, total }) => progress.step(done, total),
    );
    const [kept] = await open.keepFiles([written], () => tablePrefix({ ...source, id: tableId }));
    return kept ?? written;
  });
  await progress.settle();
  const sheet = basename(file.filename, extname(file.filename));
  const table = {
    tableId,
    // As a sheet the file has its names in row 1, so the first record is row 2.
    rowBase: firstRowId - 2,
    name: baseOfFile(source.name),
    role: 'raw' as const,
    sheet,
    regionId: null,
    range: null,
    columns,
    rowCount: rows,
    maxRowId: firstRowId - 1 + rows,
    layers,
    provenanceKey: null,
    kept: null,
  };
  return { tables: [table], extents: [{ name: sheet, rows: rows + 1, columns: columns.length, cells: (rows + 1) * columns.length }] };
}
