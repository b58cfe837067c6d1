import type { Principal } from '../../core/access/principal.ts';
import { type Page, type PageQuery, pageById } from '../../core/paging.ts';
import { listVisibleJobs, type VisibleJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { hideWords } from './hideWords.ts';

/** Jobs that the principal may see and reach, newest first. */
export async function pageJobs(services: Services, { userId, accountIds, reach }: Principal, query: PageQuery): Promise<Page<VisibleJob>> {
  const page = await pageById(
    query,
    'job',
    (before, limit) => listVisibleJobs(services.db.orm, { userId, accountIds, reach, before, limit }),
    (job) => job.id,
  );
  return { ...page, items: page.items.map((job) => hideWords(job, userId)) };
}
