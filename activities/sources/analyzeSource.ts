import { DomainError, notFound } from '../../core/errors.ts';
import { sourceAnalyzed } from '../../core/journal/sourceNotes.ts';
import { analyze, summarizeSheets } from '../../core/structuring/index.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { findJob, type JobRecord, updateJob } from '../../store/pg/jobs.ts';
import { findSourceById, lockSource, type SourceRecord, updateSource } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import type { Pulse } from '../compaction/compactTable.ts';
import { sourceBusy } from '../ingest/endIngest.ts';
import { heavyWork } from '../ingest/heavyWork.ts';
import { beginSourceJob } from '../ingest/registerSource.ts';
import { readGrids } from '../ingest/sourceFile.ts';
import { asProblem, commitForJob, isFinal, openJob, succeed } from '../jobs/runJob.ts';
import { failJob } from './failSourceJob.ts';

/** Inside the transaction: nobody else works on the source while its job does. */
export async function requireIdle(tx: Tx, sourceId: string): Promise<SourceRecord> {
  const source = await lockSource(tx, sourceId);
  if (!source) throw notFound('source in this workbook');
  const running = source.jobId === null ? null : await findJob(tx.orm, source.jobId);
  if (running && running.finishedAt === null) throw sourceBusy();
  return source;
}

/** Inside the transaction. */
export async function beginAnalysis(tx: Tx, sourceId: string): Promise<JobRecord> {
  const source = await requireIdle(tx, sourceId);
  const job = await beginSourceJob(tx, 'analyze', source, { sourceId, statusBefore: source.status });
  await updateSource(tx, sourceId, { status: 'analyzing', jobId: job.id });
  return job;
}

/** Reads the file and keeps a proposal of its regions; what people corrected in an earlier one is discarded. */
export async function analyzeSource(services: Services, jobId: string, pulse: Pulse): Promise<void> {
  const job = await openJob(services, jobId);
  if (!job) return;
  await updateJob(services.db.orm, jobId, { status: 'running', stage: 'read' });
  try {
    const source = (await findSourceById(services.db.orm, job.input.sourceId as string)) as SourceRecord;
    const found = await heavyWork(pulse, async () => {
      const { grids, reader } = await readGrids(services, source, { signal: pulse.signal });
      return { spec: { ...analyze(grids, source.name), reader }, extents: summarizeSheets(grids) };
    });
    await commitForJob(services, job, async (tx, current) => {
      const now = (await lockSource(tx, source.id)) as SourceRecord;
      const specVersion = now.specVersion + 1;
      await updateSource(tx, source.id, { ...found, specVersion, status: 'analyzed', error: null, jobId: null });
      tx.note(source.workbookId, sourceAnalyzed(source, specVersion));
      await succeed(tx, current, { sourceId: source.id }, false);
    });
  } catch (error) {
    if (!(error instanceof DomainError && isFinal(error))) throw error;
    await failJob(services, job, asProblem(error));
  }
}
