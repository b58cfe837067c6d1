import { explainFallBack } from '../../core/jobs/explainFallBack.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { findJob } from '../../store/pg/jobs.ts';
import { findSourceById, listLanded } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';

/** Writes one line to the log if the job is over: how it ended, how long it took, and its figures. No names and no values. */
export async function logEnd(services: Services, jobId: string): Promise<void> {
  const job = await findJob(services.db.orm, jobId);
  if (!job?.finishedAt) return;
  const ended = {
    jobId,
    kind: job.kind,
    status: job.status,
    code: job.problem?.code,
    workbookId: job.workbookId,
    request: job.actor?.requestId,
    ms: job.finishedAt.getTime() - job.createdAt.getTime(),
    ...(await readFigures(services, job)),
  };
  if (ended.status === 'failed' || ended.reason !== undefined) services.log.warn(ended, 'job ended');
  else services.log.info(ended, 'job ended');
}

interface Figures {
  sourceId?: string;
  bytes?: number;
  cells?: number;
  tables?: number;
  rows?: number;
  structuring?: string;
  /** Why structuring fell back; without what it says about the file. */
  reason?: string;
  notice?: string;
  credits?: number;
}

async function readFigures(services: Services, job: JobRecord): Promise<Figures> {
  const { sourceId } = job.input as { sourceId?: string };
  const source = sourceId === undefined ? null : await findSourceById(services.db.orm, sourceId);
  if (!source) return { sourceId };
  const made = (await listLanded(services.db.orm, [source.id])).map(({ table }) => table).filter(({ state }) => state === 'active');
  return {
    sourceId,
    bytes: source.size,
    cells: source.extents?.reduce((sum, { cells }) => sum + cells, 0),
    tables: made.length,
    rows: made.reduce((sum, { rowCount }) => sum + rowCount, 0),
    structuring: source.structuring ?? undefined,
    ...(source.structuringReason === null
      ? {}
      : { reason: source.structuringReason.replace(/:.*/s, ''), notice: explainFallBack(source.structuringReason) }),
    ...(job.kind === 'ingest' && job.result ? { credits: job.result.creditsCharged } : {}),
  };
}
