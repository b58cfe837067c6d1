import { requireWorkbook } from '../../activities/access.ts';
import { cancelJob, noteCancelled } from '../../activities/jobs/cancelJob.ts';
import { followJob, readJobState, takePlace } from '../../activities/jobs/followJob.ts';
import { pageJobs } from '../../activities/jobs/pageJobs.ts';
import { requireJob } from '../../activities/jobs/requireJob.ts';
import { waitForJob } from '../../activities/jobs/waitForJob.ts';
import type { Principal } from '../../core/access/principal.ts';
import { isOver } from '../../core/jobs/endings.ts';
import type { VisibleJob } from '../../store/pg/jobs.ts';
import type { Handlers } from '../http/call.ts';
import { eventHeaders, type StreamedEvent, streamEvents } from '../http/eventStream.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentJob } from '../presenters/jobs.ts';
import { showParts } from './answerJobs.ts';
import { noticeHeaders } from './noticeHeaders.ts';

export function makeJobHandlers({ services }: ApiParts): Handlers<'listJobs' | 'getJob' | 'followJob' | 'cancelJob'> {
  const showJob = async (principal: Principal, job: VisibleJob) => presentJob(job, await showParts(services, principal, [job]));
  return {
    async listJobs({ principal, query }) {
      const page = await pageJobs(services, principal, query);
      const parts = await showParts(services, principal, page.items);
      const jobs = page.items.map((job) => presentJob(job, parts));
      return { status: 200, body: { jobs, next_cursor: page.nextCursor } };
    },

    async getJob({ principal, params, query, abandoned }) {
      const job = await waitForJob(services, principal, params.job_id, { seconds: query.wait ?? 0, signal: abandoned });
      const body = await showJob(principal, job);
      return { status: 200, headers: noticeHeaders(body.result), body };
    },

    async followJob({ principal, params, header }) {
      const after = header('Last-Event-ID');
      const first = await readJobState(services, principal, params.job_id);
      if (isOver(first.job) && first.version === after) return { status: 204 };
      const leave = takePlace(services, principal);
      const follow = async function* (signal: AbortSignal): AsyncGenerator<StreamedEvent | null> {
        for await (const state of followJob(services, principal, first, { after, signal }))
          yield state && { id: state.version, name: 'job', data: await showJob(principal, state.job) };
      };
      return { status: 200, headers: eventHeaders, raw: { type: 'text/event-stream', data: streamEvents(follow, leave) } };
    },

    async cancelJob(call) {
      const job = await requireJob(services, call.principal, call.params.job_id);
      if (job.workbookId) await requireWorkbook(services, call.principal, job.workbookId, 'editor');
      const cancelled = await cancelJob(services, call.principal, job);
      const body = await showJob(call.principal, cancelled);
      return call.write(
        (tx) => noteCancelled(tx, job),
        () => ({ status: 200, body }),
      );
    },
  };
}
