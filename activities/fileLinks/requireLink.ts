import type { Principal } from '../../core/access/principal.ts';
import type { BaseRole } from '../../core/access/roles.ts';
import { notFound } from '../../core/errors.ts';
import { type FileLinkVersion, findLinkVersion, type ListedLink, listLinksById } from '../../store/pg/fileLinks.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { requireWorkbook } from '../access.ts';

interface LinkParams {
  workbook_id: string;
  link_id: string;
}

export async function requireLink(
  services: Services,
  principal: Principal,
  params: LinkParams,
  needed: BaseRole,
): Promise<{ workbook: VisibleWorkbook; link: ListedLink }> {
  const workbook = await requireWorkbook(services, principal, params.workbook_id, needed);
  const [link] = await listLinksById(services.db.orm, [params.link_id]);
  if (link?.workbookId !== workbook.id) throw notFound('file link in this workbook', 'GET …/file-links lists the tracked files.');
  return { workbook, link };
}

export async function requireLinkVersion(
  services: Services,
  principal: Principal,
  params: LinkParams & { n: number },
  needed: BaseRole,
): Promise<{ workbook: VisibleWorkbook; link: ListedLink; version: FileLinkVersion }> {
  const found = await requireLink(services, principal, params, needed);
  return { ...found, version: await findVersion(services, found.link, params.n) };
}

export async function findVersion(services: Services, link: ListedLink, n: number): Promise<FileLinkVersion> {
  const version = n <= mostVersions ? await findLinkVersion(services.db.orm, link.id, n) : null;
  if (!version) throw notFound('version of this file with that number', 'GET …/file-links lists the versions of tracked files.');
  return version;
}

/** The largest number that the database can hold. */
const mostVersions = 2 ** 31 - 1;
