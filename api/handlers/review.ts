import { prepareReview } from '../../activities/review/beginReview.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { answerJob } from './answerJobs.ts';

export function makeReviewHandlers({ services }: ApiParts): Handlers<'reviewWorkbook'> {
  return {
    async reviewWorkbook(call) {
      const { target = null, mode = 'lint', judge = false, save = false, async = false } = call.body ?? {};
      const begin = await prepareReview(services, call.principal, { workbookId: call.params.workbook_id, target, mode, judge, save });
      return call.handOver(call.actor(), begin, {
        async: async || mode === 'agent',
        answer: async (job) => ({ status: 200, body: await answerJob(services, call.principal, job) }),
      });
    },
  };
}
