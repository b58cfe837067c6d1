import { requireWorkbook } from '../../activities/access.ts';
import { cancelJob, noteCancelled } from '../../activities/jobs/cancelJob.ts';
import { pageJobs } from '../../activities/jobs/pageJobs.ts';
import { requireJob } from '../../activities/jobs/requireJob.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentJob } from '../presenters/jobs.ts';
import { showParts } from './answerJobs.ts';

export function makeJobHandlers({ services }: ApiParts): Handlers<'listJobs' | 'getJob' | 'cancelJob'> {
  return {
    async listJobs({ principal, query }) {
      const page = await pageJobs(services, principal, query);
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
      const cancelled = await cancelJob(services, call.principal, job);
      const parts = await showParts(services, call.principal, [cancelled]);
      return call.write(
        (tx) => noteCancelled(tx, job),
        () => ({ status: 200, body: presentJob(cancelled, parts) }),
      );
    },
  };
}
