import { DomainError } from '../../core/errors.ts';
import { isFinal, toProblem } from '../../core/jobs/endings.ts';
import type { Layout, ParseSpec } from '../../core/structuring/index.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type JobRecord, updateJob } from '../../store/pg/jobs.ts';
import { rememberLayout } from '../../store/pg/layouts.ts';
import {
  findDraft,
  findSourceById,
  type LandedTable,
  lockSource,
  putStructured,
  type SourceRecord,
  saveDraft,
} from '../../store/pg/sources.ts';
import { holdTagsNow } from '../../store/pg/tagFlows.ts';
import { makeId, type Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { tagMaterialized, tagStructured } from '../governance/tagLanded.ts';
import { commitForJob, openJob } from '../jobs/commitForJob.ts';
import { reportProgress } from '../jobs/reportProgress.ts';
import { requireAsker } from '../jobs/requireAsker.ts';
import { withRoomForTables } from '../storage/withRoom.ts';
import { appendRegions } from './appendRegions.ts';
import { endMaterialize } from './endMaterialize.ts';
import { refuseSourceJob } from './failSourceJob.ts';
import { keepTables } from './keepTables.ts';
import { landNew, type WrittenTable } from './landTables.ts';
import { listMadeTables } from './listMadeTables.ts';
import { openTableNames, retryOnTakenName } from './tableNames.ts';
import { workOnFile } from './workOnFile.ts';

/** Makes tables from regions of a source, or appends their rows to a table. */
export async function materializeSource(services: Services, jobId: string, activity: ActivityContext): Promise<void> {
  const job = await openJob(services, jobId, 'materialize');
  if (!job) return;
  const source = (await findSourceById(services.db.orm, job.input.sourceId)) as SourceRecord;
  await updateJob(services.db.orm, jobId, { status: 'running', stage: 'read', total: source.size });
  try {
    if (job.input.append) await appendRegions(services, job, source, job.input.append, activity);
    else await makeTables(services, job, source, activity);
  } catch (error) {
    if (!isFinal(error)) throw error;
    const isGoverned = await services.policies.isGoverned(source.workbookId);
    await refuseSourceJob(services, job, toProblem(isGoverned ? leaveOutCells(error) : error));
  }
}

/** What does not fit is told with its cell and value, which policies may hide. */
function leaveOutCells(error: DomainError): DomainError {
  if (error.code !== 'uncastable-value' && error.code !== 'validation-failed') return error;
  const why = 'The regions cannot be made into tables as the spec says. The workbook has column policies, so the cells are not shown.';
  return new DomainError(error.code, why, 'Correct the spec, or the file.');
}

async function makeTables(
  services: Services,
  job: JobRecord<'materialize'>,
  source: SourceRecord,
  activity: ActivityContext,
): Promise<void> {
  const draft =
    (await findDraft<WrittenTable[]>(services.db.orm, job.id, 'tables')) ??
    (await workOnFile(services, job.userId, source, activity, async (file) => {
      const spec = source.spec as ParseSpec;
      const request = { input: file.input, sourceName: source.name, spec, regions: job.input.regions };
      const { tables, layouts } = await file.ask('buildRegions', request);
      await saveDraft(services.db.orm, job.id, 'layouts', layouts);
      const places = tables.map((table) => {
        const tableId = makeId('tbl');
        const prefix = tablePrefix({ ...source, id: tableId });
        return { tableId, prefix, rowBase: 0, columnIds: table.columns.map((_, i) => i + 1) };
      });
      const progress = reportProgress(services, job.id, 'write');
      const written = await keepTables(file, tables, places, progress.step);
      await progress.settle();
      return written;
    }));
  await saveDraft(services.db.orm, job.id, 'tables', draft);
  const layouts = (await findDraft<Layout[]>(services.db.orm, job.id, 'layouts')) ?? [];
  await requireAsker(services, job, 'editor');
  await withRoomForTables(services, source.accountId, draft, () =>
    retryOnTakenName(() =>
      commitForJob(services, job, async (tx, current) => {
        await holdTagsNow(tx, source.workbookId);
        const now = (await lockSource(tx, source.id)) as SourceRecord;
        const earlier = await listMadeTables(tx.orm, source.id);
        const names = await openTableNames(tx, source.workbookId);
        const landing = { source: now, revision: now.revision };
        await landNew(
          tx,
          draft.map((table, index) => ({ ...landing, table, name: names.claim(table.name, table.sheet), position: 10_000 + index })),
        );
        await tagNew(tx, now, draft, earlier);
        for (const layout of layouts) await rememberLayout(tx, now, layout);
        const tableIds = draft.map(({ tableId }) => tableId);
        await endMaterialize(tx, current, now, { sourceId: source.id, tableIds, editVersion: null, opId: null, stale: [] });
      }),
    ),
  );
}

/** Where the sheets have raw tables, it is known whose cells the new tables hold. */
async function tagNew(tx: Tx, source: SourceRecord, made: WrittenTable[], earlier: LandedTable[]): Promise<void> {
  const raw = new Map(earlier.filter(({ landing }) => landing.role === 'raw').map(({ landing, table }) => [landing.sheet, table.id]));
  const [known, others] = [made.filter(({ sheet }) => raw.has(sheet)), made.filter(({ sheet }) => !raw.has(sheet))];
  await putStructured(
    tx,
    known.map(({ tableId, sheet, flows }) => ({ tableId, inputId: raw.get(sheet) ?? '', flows: flows ?? null })),
  );
  await tagStructured(tx, source, known, raw);
  await tagMaterialized(
    tx,
    source,
    others,
    earlier.map(({ table }) => table.id),
  );
}
