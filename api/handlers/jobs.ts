import { requireWorkbook } from '../../activities/access.ts';
import { cancelJob } from '../../activities/jobs/cancelJob.ts';
import { requireJob } from '../../activities/jobs/requireJob.ts';
import { isOver } from '../../core/jobs/endings.ts';
import { jobCancelled } from '../../core/journal/jobNotes.ts';
import { cutPage, decodeIdCursor } from '../../core/paging.ts';
import { listVisibleJobs } from '../../store/pg/jobs.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentJob } from '../presenters/jobs.ts';
import { showParts } from './answerJobs.ts';

export function makeJobHandlers({ services }: ApiParts): Handlers<'listJobs' | 'getJob' | 'cancelJob'> {
  return {
    async listJobs({ principal, query }) {
      const limit = query.limit ?? 50;
      const rows = await listVisibleJobs(services.db.orm, {
        userId: principal.userId,
        accountIds: principal.accountIds,
        reach: principal.reach,
        before: decodeIdCursor(query.cursor, 'job'),
        limit: limit + 1,
      });
      const page = cutPage(rows, limit, (job) => [job.id]);
      const parts = await showParts(services, principal, page.items);
      const jobs = page.items.map((job) => presentJob(job, parts));
      return { status: 200, body: { jobs, next_cursor: page.nextCursor } };
    },

    async getJob({ principal, params }) {
      const job = await requireJob(services, principal, params.job_id);
      return { status: 200, body: presentJob(job, await showParts(services, principal, [job])) };
    },

    async cancelJob(call) {
      const job = await requireJob(services, call.principal, call.params.job_id);
      if (job.workbookId) await requireWorkbook(services, call.principal, job.workbookId, 'editor');
      // A finished job is answered as it is, and nothing is written down.
      const isNews = !isOver(job);
      const cancelled = isNews ? await cancelJob(services, call.principal, job) : job;
      const parts = await showParts(services, call.principal, [cancelled]);
      return call.write(
        async (tx) => {
          if (isNews) tx.note(job.workbookId ?? job.accountId, jobCancelled(job.id));
        },
        () => ({ status: 200, body: presentJob(cancelled, parts) }),
      );
    },
  };
}
