import { isFinal, toProblem } from '../../core/jobs/endings.ts';
import { namingOf } from '../../core/structuring/index.ts';
import { nameArchivedRaw } from '../../core/structuring/names/names.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type IngestJob, updateJob } from '../../store/pg/jobs.ts';
import { findDraft, type LandedTable, listDerivedNames, listLanded } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import { tagStructured } from '../governance/tagLanded.ts';
import { commitForJob, openJob } from '../jobs/commitForJob.ts';
import { requireAsker } from '../jobs/requireAsker.ts';
import { withRoomForTables } from '../storage/withRoom.ts';
import { retryOnMove } from '../tables/editTable.ts';
import { abandonIfGone, fallBack, giveUp, refuseIngest } from './endIngest.ts';
import type { RawDraft } from './landTables.ts';
import { isEdited } from './listMadeTables.ts';
import { prepareRevision, promoteRevision } from './promoteRevision.ts';
import { archiveTable, endStructured, landAll, lockAll } from './promoteTables.ts';
import type { StructuredDraft } from './structure.ts';
import { openTableNames, retryOnTakenName } from './tableNames.ts';

/** Last step of an ingest: puts the prepared tables into the workbook, in one transaction. */
export async function promote(services: Services, jobId: string): Promise<'over'> {
  const job = await openJob(services, jobId, 'ingest', 'file_link');
  if (!job) return 'over';
  const raw = await findDraft<RawDraft>(services.db.orm, jobId, 'raw');
  const structured = await findDraft<StructuredDraft>(services.db.orm, jobId, 'tables');
  await updateJob(services.db.orm, jobId, { stage: 'promote', done: 0, total: (structured ?? raw)?.tables.length ?? null });
  try {
    await requireAsker(services, job, 'editor');
  } catch (error) {
    if (!isFinal(error)) throw error;
    await commitForJob(services, job, (tx, current) => giveUp(tx, current, toProblem(error), error.detail));
    return 'over';
  }
  const isRevision = job.input.revise !== undefined;
  try {
    const added = [...((isRevision && raw?.tables) || []), ...(structured?.tables ?? [])];
    const commit = (change: (tx: Tx, current: IngestJob) => Promise<void>) =>
      withRoomForTables(services, job.accountId, added, () =>
        retryOnTakenName(() => commitForJob<void, IngestJob['kind']>(services, job, change)),
      );
    if (!isRevision) await retryOnMove(() => commit((tx, current) => takeOver(tx, current, structured)));
    else if (!raw) throw new Error(`job ${job.id} has nothing to promote`);
    else
      await retryOnMove(async () => {
        const revision = { raw, structured };
        const carried = await prepareRevision(services, job, revision);
        await commit((tx, current) => promoteRevision(tx, current, revision, carried));
      });
  } catch (error) {
    if (!isFinal(error)) throw error;
    await commitForJob(services, job, (tx, current) =>
      isRevision ? refuseIngest(tx, current, toProblem(error)) : fallBack(tx, current, `failed:${error.detail}`),
    );
  }
  return 'over';
}

/** Structured tables get the file's name; the raw tables they were made from are archived. */
async function takeOver(tx: Tx, job: IngestJob, draft: StructuredDraft | null): Promise<void> {
  if (!draft) throw new Error(`job ${job.id} has nothing to promote`);
  const source = await lockAll(tx, job);
  if (await abandonIfGone(tx, job, source)) return;
  const raw = (await listLanded(tx.orm, [source.id])).filter(
    ({ landing }) => landing.role === 'raw' && draft.understood.includes(landing.sheet),
  );
  const why = await findObstacle(tx, raw);
  if (why) return fallBack(tx, job, `failed:${why}`);
  const naming = namingOf(draft.spec);
  for (const { table } of raw) await archiveTable(tx, source, table, nameArchivedRaw(table.name, naming));
  const names = await openTableNames(tx, source.workbookId);
  const rawBySheet = new Map(raw.map(({ landing, table }) => [landing.sheet, table.id]));
  await landAll(tx, job, source, draft.tables, names, rawBySheet);
  await tagStructured(tx, source, draft.tables, rawBySheet);
  await endStructured(tx, job, source, draft, { extents: source.extents });
}

/** Raw tables that somebody has edited or derived something from must not be archived. */
async function findObstacle(tx: Tx, raw: LandedTable[]): Promise<string | null> {
  const derived = await listDerivedNames(
    tx,
    raw.map(({ table }) => table.id),
  );
  if (derived.length > 0) return 'something was derived from a raw table meanwhile, so the raw tables stay';
  if (raw.some(isEdited)) return 'a raw table was edited meanwhile, so the raw tables stay';
  return null;
}
