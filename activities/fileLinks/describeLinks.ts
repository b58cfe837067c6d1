import { type Page, type PageQuery, pageById } from '../../core/paging.ts';
import type { Orm } from '../../store/pg/database.ts';
import { type FileLinkVersion, type ListedLink, listLinks, listLinksById, listLinkVersions } from '../../store/pg/fileLinks.ts';
import type { Services } from '../../store/services.ts';

/** A tracked file with its versions, newest last. */
export interface DescribedLink {
  link: ListedLink;
  versions: FileLinkVersion[];
}

export async function pageLinks(services: Services, workbookId: string, query: PageQuery): Promise<Page<DescribedLink>> {
  const page = await pageById(
    query,
    'lnk',
    (after, limit) => listLinks(services.db.orm, { workbookId, after, limit }),
    ({ id }) => id,
  );
  return { ...page, items: await addVersions(services.db.orm, page.items) };
}

/** Links that exist, by id. */
export async function describeLinks(orm: Orm, ids: string[]): Promise<Map<string, DescribedLink>> {
  const described = await addVersions(orm, await listLinksById(orm, [...new Set(ids)]));
  return new Map(described.map((each) => [each.link.id, each]));
}

async function addVersions(orm: Orm, links: ListedLink[]): Promise<DescribedLink[]> {
  const versions = await listLinkVersions(
    orm,
    links.map(({ id }) => id),
  );
  return links.map((link) => ({ link, versions: versions.filter(({ linkId }) => linkId === link.id) }));
}
