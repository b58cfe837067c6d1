import { isFinal, toProblem } from '../../core/jobs/endings.ts';
import { sourceAnalyzed } from '../../core/journal/sourceNotes.ts';
import { updateJob } from '../../store/pg/jobs.ts';
import { listLayouts } from '../../store/pg/layouts.ts';
import { findSourceById, lockSource, type SourceRecord, updateSource } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import type { ActivityContext } from '../activityContext.ts';
import { commitForJob, openJob } from '../jobs/commitForJob.ts';
import { succeedJob } from '../jobs/endJob.ts';
import { requireAsker } from '../jobs/requireAsker.ts';
import { refuseSourceJob } from './failSourceJob.ts';
import { findNaming } from './findNaming.ts';
import { workOnFile } from './workOnFile.ts';

/** Reads the file and stores a proposal of its regions, which replaces an earlier one and its corrections. */
export async function analyzeSource(services: Services, jobId: string, activity: ActivityContext): Promise<void> {
  const job = await openJob(services, jobId, 'analyze');
  if (!job) return;
  const source = (await findSourceById(services.db.orm, job.input.sourceId)) as SourceRecord;
  await updateJob(services.db.orm, jobId, { status: 'running', stage: 'read', total: source.size });
  try {
    const choice = await findNaming(services.db.orm, source.workbookId);
    const layouts = await listLayouts(services.db.orm, source.accountId);
    const found = await workOnFile(services, job.userId, source, activity, (file) =>
      file.ask('analyze', { input: file.input, sourceName: source.name, choice, layouts }),
    );
    await requireAsker(services, job, 'editor');
    await commitForJob(services, job, async (tx, current) => {
      const now = (await lockSource(tx, source.id)) as SourceRecord;
      const specVersion = now.specVersion + 1;
      await updateSource(tx, source.id, { ...found, specVersion, status: 'analyzed', error: null, jobId: null });
      tx.note(source.workbookId, sourceAnalyzed(source, specVersion));
      await succeedJob(tx, current, { sourceId: source.id });
    });
  } catch (error) {
    if (!isFinal(error)) throw error;
    await refuseSourceJob(services, job, toProblem(error));
  }
}
