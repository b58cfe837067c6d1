import { type Page, type PageQuery, pageById } from '../../core/paging.ts';
import { listSources, type SourceSummary } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import { type DescribedSource, describeSources } from './describeSources.ts';

export async function pageSources(services: Services, workbookId: string, query: PageQuery): Promise<Page<DescribedSource<SourceSummary>>> {
  const page = await pageById(
    query,
    'src',
    (before, limit) => listSources(services.db.orm, { workbookId, before, limit }),
    (source) => source.id,
  );
  return { ...page, items: await describeSources(services.db.orm, page.items) };
}
